//go:build kubernetes131

package main

import (
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/version"
	plugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
)

type evaluator = plugin.Filter

func declarations(hasAuthorizer bool) plugin.OptionalVariableDeclarations {
	return plugin.OptionalVariableDeclarations{HasAuthorizer: hasAuthorizer, StrictCost: true}
}

func newCompiler(compatible *version.Version, records *recorder) (*plugin.CompositedCompiler, error) {
	made, err := plugin.NewCompositedCompiler(environment.MustBaseEnvSet(compatible, true))
	if err != nil {
		return nil, err
	}
	records.Compiler = made.Compiler
	made.Compiler, made.FilterCompiler = records, records
	return made, nil
}

func (each *recorder) Compile(expressions []plugin.ExpressionAccessor, declared plugin.OptionalVariableDeclarations, mode environment.Type) evaluator {
	return plugin.NewFilter(each.compileAll(expressions, declared, mode))
}

func compileAll(compiler *plugin.CompositedCompiler, expressions []plugin.ExpressionAccessor, declared plugin.OptionalVariableDeclarations, mode environment.Type) evaluator {
	return compiler.Compile(expressions, declared, mode)
}

func newValidator(validations evaluator, matcher matchconditions.Matcher, annotations, messages evaluator, policy *v1.FailurePolicyType) validating.Validator {
	return validating.NewValidator(validations, matcher, annotations, messages, policy)
}
