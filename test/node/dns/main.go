// Command dns is CoreDNS with what a cluster's names need and no more: it answers for Services, asking the API server.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
)

func init() {
	// Plugins answer in this order, whatever the order in the Corefile.
	dnsserver.Directives = []string{"bind", "ready", "errors", "kubernetes"}
}

func main() { coremain.Run() }
