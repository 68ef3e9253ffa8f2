// Command controlplane is a Kubernetes control plane in one program, for tests and demonstrations:
// etcd, kube-apiserver and kubectl at one version, without containers. The controllers that objects need are a program
// of their own (controllers/main.go), so that the API can be served before they are built.
//
// The component is the first argument, or the name that the program is called by:
//
//	controlplane kube-apiserver --help
//	ln -s controlplane kubectl && ./kubectl version
//
// A component started with --die-with-parent before its name ends when the process that started it ends, however
// that happens. The watchdog removes what such a process leaves behind (see watchdog.go).
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

const dieWithParentFlag = "--die-with-parent"

// A component runs to its end with os.Args set as if it were a program of its own, and returns the exit code.
type component struct {
	run func() int
	// readsStdin says that standard input carries the component's own data, so that its end means nothing.
	readsStdin bool
}

var components = map[string]component{
	"etcd":           {run: runEtcd},
	"kube-apiserver": {run: func() int { return cli.Run(apiserver.NewAPIServerCommand()) }},
	"kubectl":        {run: runKubectl, readsStdin: true},
}

func main() {
	name, arguments, dieWithParent := parse(os.Args)
	chosen, known := components[name]
	if !known {
		fmt.Fprintf(os.Stderr, "unknown component %q: use one of %s\n", name, strings.Join(componentNames(), ", "))
		os.Exit(2)
	}
	if dieWithParent {
		signalOnParentDeath()
		if !chosen.readsStdin {
			go exitAtEndOf(os.Stdin)
		}
	}
	os.Args = append([]string{name}, arguments...)
	os.Exit(chosen.run())
}

// parse finds the component's name and its arguments: from the name that the program was called by, else from the
// first argument.
func parse(args []string) (name string, arguments []string, dieWithParent bool) {
	calledBy := filepath.Base(args[0])
	rest := args[1:]
	if len(rest) > 0 && rest[0] == dieWithParentFlag {
		dieWithParent = true
		rest = rest[1:]
	}
	if _, known := components[calledBy]; known {
		return calledBy, rest, dieWithParent
	}
	if len(rest) == 0 {
		return "", nil, dieWithParent
	}
	return rest[0], rest[1:], dieWithParent
}

func componentNames() []string {
	names := make([]string, 0, len(components))
	for name := range components {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func runEtcd() int {
	etcdmain.Main(os.Args)
	return 0
}

func runKubectl() int {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
	return 0
}
