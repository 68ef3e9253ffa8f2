// Command admission decides requests by a ValidatingAdmissionPolicy, as the API server does: with its own packages for
// defaults and admission. It reads {"policy", "requests"} from standard input and writes {"kubernetes", "budget",
// "limit", "expressions", "errors", "results"}.
//
// It is built from two releases of Kubernetes: the one in go.mod, and the oldest that the chart supports, which is in
// kubernetes131.mod and takes the tag kubernetes131.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
)

type input struct {
	Policy   v1.ValidatingAdmissionPolicy `json:"policy"`
	Requests []request                    `json:"requests"`
}

// request is a write of one object. Objects of Kubernetes' own types get their defaults, whether new or stored.
type request struct {
	Operation   admission.Operation `json:"operation"`
	Resource    string              `json:"resource"`
	Subresource string              `json:"subresource"`
	User        string              `json:"user"`
	Object      map[string]any      `json:"object"`
	OldObject   map[string]any      `json:"oldObject"`
}

type answer struct {
	Kubernetes string `json:"kubernetes"`
	// Budget is what all expressions for one request may cost together; Limit is what one of them may cost.
	Budget int64 `json:"budget"`
	Limit  int64 `json:"limit"`
	// Expressions is the number of expressions that were compiled as those of a policy that is created now.
	Expressions int      `json:"expressions"`
	Errors      []string `json:"errors"`
	Results     []result `json:"results"`
}

type result struct {
	// Denials has the messages, and is empty if the request is admitted.
	Denials []string `json:"denials"`
	// Costs has what each expression that was evaluated cost; a variable is variables.NAME.
	Costs        map[string]int64 `json:"costs"`
	Milliseconds float64          `json:"milliseconds"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "admission:", err)
		os.Exit(1)
	}
}

func run() error {
	var given input
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	policy, err := compile(&given.Policy)
	if err != nil {
		return err
	}
	said := answer{
		Kubernetes:  current().String(),
		Budget:      celconfig.RuntimeCELCostBudget,
		Limit:       celconfig.PerCallLimit,
		Expressions: policy.expressions,
		Errors:      policy.errors,
		Results:     []result{},
	}
	for _, each := range given.Requests {
		decided, err := policy.decide(each)
		if err != nil {
			return err
		}
		said.Results = append(said.Results, decided)
	}
	return json.NewEncoder(os.Stdout).Encode(said)
}

func (policy *compiled) decide(each request) (result, error) {
	object, err := admitted(each.Object)
	if err != nil {
		return result{}, err
	}
	oldObject, err := admitted(each.OldObject)
	if err != nil {
		return result{}, err
	}
	either := object
	if either == nil {
		either = oldObject
	}
	metadata, err := meta.Accessor(either)
	if err != nil {
		return result{}, err
	}
	kind := either.GetObjectKind().GroupVersionKind()
	resource := kind.GroupVersion().WithResource(each.Resource)
	attributes := admission.NewAttributesRecord(object, oldObject, kind, metadata.GetNamespace(), metadata.GetName(), resource,
		each.Subresource, each.Operation, nil, false, &user.DefaultInfo{Name: each.User})
	versioned := &admission.VersionedAttributes{
		Attributes: attributes, VersionedKind: kind, VersionedObject: object, VersionedOldObject: oldObject,
	}
	policy.costs = map[string]int64{}
	started := time.Now()
	found := policy.validator.Validate(context.Background(), resource, versioned, nil, nil, celconfig.RuntimeCELCostBudget, nil)
	took := time.Since(started)
	if len(found.Decisions) == 0 {
		return result{}, fmt.Errorf("the policy does not match a request of %s", each.User)
	}
	decided := result{Denials: []string{}, Costs: policy.costs, Milliseconds: float64(took.Microseconds()) / 1_000}
	for _, decision := range found.Decisions {
		if decision.Action == validating.ActionDeny {
			decided.Denials = append(decided.Denials, decision.Message)
		}
	}
	return decided, nil
}
