// Command argocd is what of Argo CD keeps a cluster as a repository says: its application controller and its repository
// server, without its API server and user interface.
package main

import (
	"os"

	"github.com/spf13/cobra"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
)

func main() {
	root := &cobra.Command{Use: "argocd"}
	root.AddCommand(controller.NewCommand(), reposerver.NewCommand())
	if root.Execute() != nil {
		os.Exit(1)
	}
}
