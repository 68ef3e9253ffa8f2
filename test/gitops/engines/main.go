// Command engines applies manifests with the libraries by which Flux and Argo CD do it, and reports what they find.
// It reads a list of objects and writes a finding for each, both as JSON. KUBECONFIG names the cluster.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/gitops-engine/pkg/utils/tracing"
	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/normalize"
	"github.com/fluxcd/pkg/ssa/utils"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// argoManager is the field manager of Argo CD.
const argoManager = "argocd-controller"

// finding says what became of one object.
type finding struct {
	// Subject is kind/namespace/name.
	Subject string `json:"subject"`
	// Flux is what Flux did with the object when it was applied for the second time.
	Flux string `json:"flux"`
	// Argo holds how Argo CD would change the object that it has just applied: merge patches by the mode of comparing.
	Argo map[string]json.RawMessage `json:"argo"`
}

func main() {
	log.SetLogger(logr.Discard())
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "engines:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS = -1
	var objects []*unstructured.Unstructured
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		return err
	}
	actions, err := applyByFlux(ctx, config, objects)
	if err != nil {
		return fmt.Errorf("Flux: %w", err)
	}
	findings := make([]finding, 0, len(objects))
	err = withArgo(config, func(argo argo) error {
		for _, object := range objects {
			subject := utils.FmtUnstructured(object)
			differences, err := argo.differences(ctx, object)
			if err != nil {
				return fmt.Errorf("%s: %w", subject, err)
			}
			findings = append(findings, finding{subject, actions[subject], differences})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("Argo CD: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(findings)
}

// applyByFlux applies the objects twice, in the stages of kustomize-controller and after its preparations.
func applyByFlux(ctx context.Context, config *rest.Config, objects []*unstructured.Unstructured) (map[string]string, error) {
	cluster, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	if err := normalize.UnstructuredList(objects); err != nil {
		return nil, err
	}
	poller := polling.NewStatusPoller(cluster, cluster.RESTMapper(), polling.Options{})
	manager := ssa.NewResourceManager(cluster, poller, ssa.Owner{
		Field: "kustomize-controller",
		Group: "kustomize.toolkit.fluxcd.io",
	})
	if _, err = manager.ApplyAllStaged(ctx, copies(objects), ssa.DefaultApplyOptions()); err != nil {
		return nil, err
	}
	changes, err := manager.ApplyAllStaged(ctx, copies(objects), ssa.DefaultApplyOptions())
	if err != nil {
		return nil, err
	}
	actions := map[string]string{}
	for _, entry := range changes.Entries {
		actions[entry.Subject] = entry.Action.String()
	}
	return actions, nil
}

// copies protects manifests from Flux, which writes the answers of the server into what it applies.
func copies(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	copied := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		copied[i] = object.DeepCopy()
	}
	return copied
}

// argo compares like Argo CD's application controller.
type argo struct {
	kubectl *kube.KubectlCmd
	config  *rest.Config
	applier kube.ResourceOperations
	modes   map[string][]diff.Option
}

// withArgo calls use with what the application controller has for a cluster.
func withArgo(config *rest.Config, use func(argo) error) error {
	kubectl := &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}
	schema, parser, err := kubectl.LoadOpenAPISchema(config)
	if err != nil {
		return err
	}
	applier, closeApplier, err := kubectl.ManageResources(config, schema)
	if err != nil {
		return err
	}
	defer closeApplier()
	dryRunner, closeDryRunner, err := kube.ManageServerSideDiffDryRuns(config, schema, kubectl.Tracer, kubectl.Log, func(string) (kube.CleanupFunc, error) {
		return func() {}, nil
	})
	if err != nil {
		return err
	}
	defer closeDryRunner()
	always := []diff.Option{diff.WithLogr(logr.Discard()), diff.WithGVKParser(parser), diff.WithManager(argoManager)}
	with := func(more ...diff.Option) []diff.Option { return append(append([]diff.Option{}, always...), more...) }
	return use(argo{kubectl, config, applier, map[string][]diff.Option{
		"default":         with(),
		"ServerSideApply": with(diff.WithStructuredMergeDiff(true)),
		"ServerSideDiff":  with(diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(diff.NewK8sServerSideDryRunner(dryRunner))),
	}})
}

// differences applies a manifest with the option ServerSideApply, and returns the merge patches by which Argo CD would
// still change the object, by the mode of comparing.
func (a argo) differences(ctx context.Context, manifest *unstructured.Unstructured) (map[string]json.RawMessage, error) {
	if _, err := a.applier.ApplyResource(ctx, manifest.DeepCopy(), cmdutil.DryRunNone, false, true, true, argoManager); err != nil {
		return nil, err
	}
	live, err := a.kubectl.GetResource(ctx, a.config, manifest.GroupVersionKind(), manifest.GetName(), manifest.GetNamespace())
	if err != nil {
		return nil, err
	}
	found := map[string]json.RawMessage{}
	for mode, options := range a.modes {
		result, err := diff.Diff(manifest.DeepCopy(), live.DeepCopy(), options...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", mode, err)
		}
		if !result.Modified {
			continue
		}
		if found[mode], err = jsonpatch.CreateMergePatch(result.NormalizedLive, result.PredictedLive); err != nil {
			return nil, err
		}
	}
	return found, nil
}
