package main

import (
	"context"
	"runtime/debug"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/version"
	plugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
)

// compiled is a policy that records what its expressions cost.
type compiled struct {
	validator   validating.Validator
	expressions int
	errors      []string
	// costs by expression, or by name of variable.
	costs map[string]int64
}

// current returns the release of Kubernetes that this program is built from.
func current() *version.Version {
	info, _ := debug.ReadBuildInfo()
	for _, each := range info.Deps {
		if each.Path != "k8s.io/apiserver" {
			continue
		}
		if each.Replace != nil {
			each = each.Replace
		}
		// v0.36.3 is part of Kubernetes 1.36.
		return version.MajorMinor(1, version.MustParseSemantic(each.Version).Minor())
	}
	panic("this program has no API server")
}

// compile follows compilePolicy of the API server's package, which is not exported.
func compile(policy *v1.ValidatingAdmissionPolicy) (*compiled, error) {
	made := &compiled{costs: map[string]int64{}, errors: []string{}}
	previous := version.MajorMinor(1, current().Minor()-1)
	// The API server accepts a new policy only if the release before it compiles it too.
	if _, _, err := made.compileFor(policy, previous, environment.NewExpressions); err != nil {
		return nil, err
	}
	evaluators, matcher, err := made.compileFor(policy, previous, environment.StoredExpressions)
	if err != nil {
		return nil, err
	}
	made.validator = newValidator(evaluators[0], matcher, evaluators[1], evaluators[2], policy.Spec.FailurePolicy)
	return made, nil
}

// compileFor returns evaluators of validations, audit annotations and messages.
func (policy *compiled) compileFor(given *v1.ValidatingAdmissionPolicy, compatible *version.Version, mode environment.Type) ([]evaluator, matchconditions.Matcher, error) {
	recorder := &recorder{policy: policy}
	compiler, err := newCompiler(compatible, recorder)
	if err != nil {
		return nil, nil, err
	}
	for _, each := range given.Spec.Variables {
		compiler.CompileAndStoreVariable(&validating.Variable{Name: each.Name, Expression: each.Expression}, declarations(true), mode)
	}
	conditions := []plugin.ExpressionAccessor{}
	for i := range given.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&given.Spec.MatchConditions[i]))
	}
	matcher := matchconditions.NewMatcher(compileAll(compiler, conditions, declarations(true), mode), given.Spec.FailurePolicy, "policy", "validate", given.Name)
	validations := make([]plugin.ExpressionAccessor, len(given.Spec.Validations))
	messages := make([]plugin.ExpressionAccessor, len(given.Spec.Validations))
	for i, each := range given.Spec.Validations {
		validations[i] = &validating.ValidationCondition{Expression: each.Expression, Message: each.Message, Reason: each.Reason}
		if each.MessageExpression != "" {
			messages[i] = &validating.MessageExpressionCondition{MessageExpression: each.MessageExpression}
		}
	}
	return []evaluator{
		compileAll(compiler, validations, declarations(true), mode),
		compileAll(compiler, nil, declarations(true), mode),
		compileAll(compiler, messages, declarations(false), mode),
	}, matcher, nil
}

// recorder compiles expressions into programs that record their costs.
type recorder struct {
	plugin.Compiler
	policy *compiled
}

func (each *recorder) CompileCELExpression(expression plugin.ExpressionAccessor, declared plugin.OptionalVariableDeclarations, mode environment.Type) plugin.CompilationResult {
	found := each.Compiler.CompileCELExpression(expression, declared, mode)
	name := expression.GetExpression()
	if named, ok := expression.(plugin.NamedExpressionAccessor); ok {
		name = "variables." + named.GetName()
	}
	if mode == environment.NewExpressions {
		each.policy.expressions++
	}
	if found.Error != nil {
		each.policy.errors = append(each.policy.errors, name+": "+found.Error.Error())
	}
	if found.Program != nil {
		found.Program = &recorded{Program: found.Program, name: name, policy: each.policy}
	}
	return found
}

func (each *recorder) compileAll(expressions []plugin.ExpressionAccessor, declared plugin.OptionalVariableDeclarations, mode environment.Type) []plugin.CompilationResult {
	results := make([]plugin.CompilationResult, len(expressions))
	for i, expression := range expressions {
		if expression != nil {
			results[i] = each.CompileCELExpression(expression, declared, mode)
		}
	}
	return results
}

type recorded struct {
	cel.Program
	name   string
	policy *compiled
}

func (each *recorded) ContextEval(ctx context.Context, variables any) (ref.Val, *cel.EvalDetails, error) {
	value, details, err := each.Program.ContextEval(ctx, variables)
	if details != nil && details.ActualCost() != nil {
		each.policy.costs[each.name] += int64(*details.ActualCost())
	}
	return value, details, err
}
