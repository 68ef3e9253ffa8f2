// Command kubenode is what a Kubernetes node and its scheduling consist of in one program, for tests: kubelet,
// kube-proxy, kube-scheduler and kube-controller-manager at the version of the servers next to it (../../controlplane).
//
// The component is the first argument:
//
//	kubenode kubelet --help
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	if len(os.Args) < 2 {
		refuse("")
	}
	name := os.Args[1]
	os.Args = append([]string{name}, os.Args[2:]...)
	os.Exit(cli.Run(commandOf(name)))
}

func commandOf(name string) *cobra.Command {
	switch name {
	case "kubelet":
		return kubelet.NewKubeletCommand(context.Background())
	case "kube-proxy":
		return proxy.NewProxyCommand()
	case "kube-scheduler":
		return scheduler.NewSchedulerCommand()
	case "kube-controller-manager":
		return controllermanager.NewControllerManagerCommand()
	}
	refuse(name)
	return nil
}

func refuse(name string) {
	fmt.Fprintf(os.Stderr, "unknown component %q: use kubelet, kube-proxy, kube-scheduler or kube-controller-manager\n", name)
	os.Exit(2)
}
