package server

// userVariables are where servers say who pushes: gitolite, Gitea and Forgejo, and whatever checks passwords before git http-backend.
var userVariables = []string{"GL_USER", "GITEA_PUSHER_NAME", "REMOTE_USER"}

// User is who pushes, as far as the server says so; otherwise the account under which this process runs: over ssh and paths that is who pushes, over http it is
// nobody.
func User(getenv func(string) string, account func() string) string {
	for _, name := range userVariables {
		if user := getenv(name); user != "" {
			return user
		}
	}
	if getenv("GATEWAY_INTERFACE") != "" || getenv("GIT_HTTP_EXPORT_ALL") != "" || getenv("REQUEST_METHOD") != "" {
		return ""
	}
	return account()
}
