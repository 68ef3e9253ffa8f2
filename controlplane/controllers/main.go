// Command controllers runs the few controllers of kube-controller-manager that objects need to behave as usual:
// namespaces are emptied, dependents are deleted with their owners, each namespace has its default ServiceAccount and CA
// bundle, and Secrets of the type kubernetes.io/service-account-token get their tokens.
//
//	controllers --kubeconfig FILE --root-ca-file FILE --service-account-private-key-file FILE --controllers namespace-controller,…
//
// It stands in for kube-controller-manager, because it has a third of its packages and so takes less time to build. The
// controllers and their names are Kubernetes' own.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	tokens "k8s.io/kubernetes/pkg/serviceaccount"
)

const (
	// Raised, so that emptying a namespace does not wait for the client's own limits.
	queriesPerSecond = 400
	burst            = 800
	workers          = 10
	syncPeriod       = 30 * time.Second
	resyncPeriod     = 12 * time.Hour
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file of an administrator's credentials")
	rootCAFile := flag.String("root-ca-file", "", "certificates that each namespace's CA bundle holds")
	keyFile := flag.String("service-account-private-key-file", "", "key that signs tokens of ServiceAccounts")
	chosen := flag.String("controllers", "", "names of the controllers to run, separated by commas")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// The owner holds the other end of standard input and never writes to it: its death, also by SIGKILL, closes it.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	if err := run(ctx, *kubeconfig, *rootCAFile, *keyFile, strings.Split(*chosen, ",")); err != nil {
		log.Fatal(err)
	}
}

// run starts the chosen controllers and returns once ctx is done.
func run(ctx context.Context, kubeconfig, rootCAFile, keyFile string, chosen []string) error {
	rootCA, err := os.ReadFile(rootCAFile)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = queriesPerSecond, burst
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, resyncPeriod)
	core := factory.Core().V1()

	accounts, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(),
		client, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return err
	}
	secrets, err := newTokens(ctx, client, factory, rootCA, keyFile)
	if err != nil {
		return err
	}
	publisher, err := rootcacertpublisher.NewPublisher(core.ConfigMaps(), core.Namespaces(), client, rootCA)
	if err != nil {
		return err
	}
	namespaces := namespace.NewNamespaceController(ctx, client, objects,
		client.Discovery().ServerPreferredNamespacedResources, core.Namespaces(), 5*time.Minute, v1.FinalizerKubernetes)
	collector, err := newCollector(ctx, client, objects, factory)
	if err != nil {
		return err
	}

	controllers := map[string]func(){
		"serviceaccount-controller":                func() { accounts.Run(ctx, 1) },
		"serviceaccount-token-controller":          func() { secrets.Run(ctx, 1) },
		"root-ca-certificate-publisher-controller": func() { publisher.Run(ctx, 1) },
		"namespace-controller":                     func() { namespaces.Run(ctx, workers) },
		"garbage-collector-controller":             func() { collector.run(ctx) },
	}
	for _, name := range chosen {
		start, known := controllers[name]
		if !known {
			return fmt.Errorf("unknown controller %q", name)
		}
		go start()
	}
	factory.Start(ctx.Done())
	close(collector.informersStarted)
	<-ctx.Done()
	return nil
}

// newTokens returns the controller that fills Secrets of the type kubernetes.io/service-account-token.
func newTokens(ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory, rootCA []byte, keyFile string) (*serviceaccount.TokensController, error) {
	key, err := keyutil.PrivateKeyFromFile(keyFile)
	if err != nil {
		return nil, err
	}
	generator, err := tokens.JWTTokenGenerator(tokens.LegacyIssuer, key)
	if err != nil {
		return nil, err
	}
	core := factory.Core().V1()
	return serviceaccount.NewTokensController(klog.FromContext(ctx), core.ServiceAccounts(), core.Secrets(), client,
		serviceaccount.TokensControllerOptions{TokenGenerator: generator, RootCA: rootCA})
}

// collector deletes the dependents of owners that are gone.
type collector struct {
	*garbagecollector.GarbageCollector
	client           kubernetes.Interface
	mapper           *restmapper.DeferredDiscoveryRESTMapper
	informersStarted chan struct{}
}

func newCollector(ctx context.Context, client kubernetes.Interface, objects metadata.Interface, typed informers.SharedInformerFactory) (*collector, error) {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	started := make(chan struct{})
	factory := informerfactory.NewInformerFactory(typed, metadatainformer.NewSharedInformerFactory(objects, resyncPeriod))
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, objects, mapper, garbagecollector.DefaultIgnoredResources(), factory, started)
	gc, err := garbagecollector.NewComposedGarbageCollector(ctx, client, objects, mapper, graph)
	if err != nil {
		return nil, err
	}
	return &collector{gc, client, mapper, started}, nil
}

func (c *collector) run(ctx context.Context) {
	go c.Run(ctx, workers, syncPeriod)
	c.Sync(ctx, c.client.Discovery(), syncPeriod)
}
