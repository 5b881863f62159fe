package httpgit

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// The bounds of a connection that are not the context's.
const (
	idleTime       = 90 * time.Second
	maxHeaderBytes = 64 << 10
)

// newClient makes the client that obeys the settings. HTTP/1.1 is all that a few small requests need, and its failures are plain.
// Without https, certificates that can't be read are no error, but then no server that it is redirected to is trusted.
func newClient(s settings, env environment, https bool) (*http.Transport, error) {
	config, err := tlsConfig(s)
	if err != nil && https {
		return nil, err
	}
	if err != nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	}
	proxy, err := proxyFunc(s, env)
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy:                  func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		TLSClientConfig:        config,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
		DisableCompression:     true,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}, nil
}

func tlsConfig(s settings) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.noVerify} //nolint:gosec // the user's own setting
	if s.caInfo != "" || s.caPath != "" {
		pool, err := certificates(s.caInfo, s.caPath)
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	if s.cert != "" {
		key := s.key
		if key == "" {
			key = s.cert
		}
		pair, err := tls.LoadX509KeyPair(s.cert, key)
		if err != nil {
			return nil, quoted("client certificate", s.cert, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// certificates reads those of a file and of all files of a folder.
func certificates(file, folder string) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if file != "" {
		pem, err := os.ReadFile(file) //nolint:gosec // the user's own setting
		if err != nil {
			return nil, err
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, quoted("http.sslCAInfo", file, errors.New("no certificates"))
		}
	}
	if folder == "" {
		return pool, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if pem, err := os.ReadFile(filepath.Join(folder, e.Name())); err == nil { //nolint:gosec // likewise
			pool.AppendCertsFromPEM(pem)
		}
	}
	return pool, nil
}

// proxyFunc finds the proxy for a URL: http.proxy, where empty means none, or else the environment's, for hosts that
// no_proxy does not name.
func proxyFunc(s settings, env environment) (func(*url.URL) (*url.URL, error), error) {
	all := env.first("all_proxy", "ALL_PROXY")
	config := httpproxy.Config{
		HTTPProxy:  env.first("http_proxy"),
		HTTPSProxy: env.first("https_proxy", "HTTPS_PROXY"),
		NoProxy:    env.first("no_proxy", "NO_PROXY"),
	}
	if config.HTTPProxy == "" {
		config.HTTPProxy = all
	}
	if config.HTTPSProxy == "" {
		config.HTTPSProxy = all
	}
	if s.proxy != nil {
		config.HTTPProxy, config.HTTPSProxy = *s.proxy, *s.proxy
	}
	for _, p := range []*string{&config.HTTPProxy, &config.HTTPSProxy} {
		if *p == "" {
			continue
		}
		u, err := parseProxy(*p)
		if err != nil {
			return nil, err
		}
		*p = u.String()
	}
	return config.ProxyFunc(), nil
}

// parseProxy reads a proxy's URL, whose scheme may be missing. Its error does not show it: it may hold a password.
func parseProxy(raw string) (*url.URL, error) {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil, settingError("http.proxy")
	}
	if _, hasPassword := u.User.Password(); u.User != nil && !hasPassword {
		return nil, settingError("http.proxy with a user alone")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	}
	return nil, settingError("http.proxy " + u.Scheme)
}
