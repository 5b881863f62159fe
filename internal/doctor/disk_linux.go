package doctor

import "golang.org/x/sys/unix"

// networks are the file systems that are on other machines, by the number that the kernel gives them.
var networks = map[int64]string{
	unix.NFS_SUPER_MAGIC: "nfs", unix.SMB_SUPER_MAGIC: "smb", unix.SMB2_SUPER_MAGIC: "smb2", unix.CIFS_SUPER_MAGIC: "cifs",
	unix.AFS_SUPER_MAGIC: "afs", unix.V9FS_MAGIC: "9p", unix.CEPH_SUPER_MAGIC: "ceph", unix.CODA_SUPER_MAGIC: "coda",
}

func diskOf(dir string) (disk, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(existing(dir), &st); err != nil {
		return disk{}, err
	}
	return disk{free: st.Bavail * uint64(st.Bsize), network: networks[int64(st.Type)]}, nil //nolint:unconvert,nolintlint // not everywhere 64 bits
}
