package doctor

import "golang.org/x/sys/unix"

// networks are the file systems that are on other machines.
var networks = map[string]bool{"nfs": true, "smbfs": true, "afpfs": true, "webdav": true}

func diskOf(dir string) (disk, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(existing(dir), &st); err != nil {
		return disk{}, err
	}
	d := disk{free: st.Bavail * uint64(st.Bsize)}
	if name := unix.ByteSliceToString(st.Fstypename[:]); networks[name] {
		d.network = name
	}
	return d, nil
}
