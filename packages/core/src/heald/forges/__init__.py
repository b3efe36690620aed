"""Forges: the servers of git repositories with pull requests. GitHub, GitLab and Gitea (Forgejo, Codeberg)."""
