package lease

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/git-worklease/git-worklease/refstore"
)

// signatureMark begins the line of a message that carries its signature.
const signatureMark = "Worklease-Signature: ed25519 "

// warmKeys makes the first signature of this process as quick as all others: it is a millisecond that can be spent while something else is waited for.
func warmKeys() { _ = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) }

// newKey makes the key of a claim from random bytes.
func newKey(random io.Reader) (ed25519.PrivateKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("random bytes: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// public is the public half of key; nil where key is none.
func public(key ed25519.PrivateKey) []byte {
	if len(key) != ed25519.PrivateKeySize {
		return nil
	}
	return key[ed25519.PrivateKeySize-ed25519.PublicKeySize:]
}

func claimID(public []byte) ClaimID {
	sum := sha256.Sum256(public)
	return ClaimID(hex.EncodeToString(sum[:16]))
}

// seal makes a record's message: a line for people, the line of JSON, and its signature.
func seal(subject string, line []byte, key ed25519.PrivateKey) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n%s\n\n%s%s\n", subject, line, signatureMark, base64.StdEncoding.EncodeToString(ed25519.Sign(key, line)))
	return b.Bytes()
}

// open takes a message apart. It does not verify.
func open(message []byte) (subject, line, signature []byte, err error) {
	subject, rest, ok := bytes.Cut(message, []byte("\n\n"))
	line, trailers, ok2 := bytes.Cut(rest, []byte("\n\n"))
	if !ok || !ok2 || bytes.IndexByte(subject, '\n') >= 0 || len(line) == 0 || line[0] != '{' || bytes.IndexByte(line, '\n') >= 0 {
		return nil, nil, nil, fmt.Errorf("%w: not the form of a record", ErrCorrupt)
	}
	if len(line) > maxRecord {
		return nil, nil, nil, fmt.Errorf("%w: record of %d bytes", ErrCorrupt, len(line))
	}
	for trailer := range bytes.Lines(trailers) {
		if value, ok := bytes.CutPrefix(trailer, []byte(signatureMark)); ok {
			return subject, line, bytes.TrimSuffix(value, []byte("\n")), nil
		}
	}
	return nil, nil, nil, fmt.Errorf("%w: no signature", ErrCorrupt)
}

// CheckCommit judges a record by itself, whatever its kind: form, limits, and whether the key that it names signed it. It is given to
// the store, which calls it once for each record that comes from the wire. A record of a later version passes, to be shown as such.
func CheckCommit(c refstore.Commit) error {
	_, line, signature, err := open(c.Message)
	if err != nil {
		return err
	}
	var head struct {
		V    int    `json:"v"`
		Kind Kind   `json:"kind"`
		Key  []byte `json:"key"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		if newer(line) {
			return nil
		}
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if head.V > Version {
		return nil
	}
	if head.Kind == KindLease {
		if _, err := decodeLine(line, c.Parent); err != nil {
			return err
		}
	}
	return verify(head.Key, line, signature)
}

func verify(key, line, signature []byte) error {
	sig, err := base64.StdEncoding.AppendDecode(nil, signature)
	if err != nil || len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, line, sig) {
		return fmt.Errorf("%w: wrong signature", ErrCorrupt)
	}
	return nil
}

// Warm does ahead, in the background, what the first use of a signature costs in a process: about a millisecond of tables and self-tests.
func Warm() {
	go func() { ed25519.Sign(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), nil) }()
}
