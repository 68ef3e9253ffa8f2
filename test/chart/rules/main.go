// Command rules judges Kubernetes objects by Trivy's checks, in the Rego that Trivy has them in. It takes the folder of
// the module github.com/aquasecurity/trivy-checks, reads a JSON list of objects, and writes {"checks": [...],
// "findings": [...]}.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/types"
)

// check is one of Trivy's, as its metadata has it.
type check struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
	query    string
}

type finding struct {
	Check   string `json:"check"`
	Object  string `json:"object"`
	Message string `json:"message"`
}

type answer struct {
	Checks   []check   `json:"checks"`
	Findings []finding `json:"findings"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "rules:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("give the folder of trivy-checks")
	}
	var objects []map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		return err
	}
	modules, checks, err := load(os.Args[1])
	if err != nil {
		return err
	}
	compiler := ast.NewCompiler().WithCapabilities(capabilities())
	if compiler.Compile(modules); compiler.Failed() {
		return compiler.Errors
	}
	judged := answer{Checks: checks, Findings: []finding{}}
	for _, each := range checks {
		found, err := judge(compiler, each, objects)
		if err != nil {
			return fmt.Errorf("%s: %w", each.ID, err)
		}
		judged.Findings = append(judged.Findings, found...)
	}
	return json.NewEncoder(os.Stdout).Encode(judged)
}

// load parses the checks for Kubernetes and what they share; tests and checks that Trivy calls outdated stay out.
func load(root string) (map[string]*ast.Module, []check, error) {
	modules := map[string]*ast.Module{}
	checks := []check{}
	for _, place := range []string{"lib/kubernetes", "lib/cloud/metadata.rego", "lib/cloud/value.rego", "checks/kubernetes"} {
		err := filepath.WalkDir(filepath.Join(root, place), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".rego") || strings.HasSuffix(path, "_test.rego") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			module, err := ast.ParseModuleWithOpts(path, string(text), ast.ParserOptions{ProcessAnnotation: true})
			if err != nil {
				return err
			}
			found, isOutdated := describe(module)
			if isOutdated {
				return nil
			}
			// Trivy's schemas of inputs are its own: nothing is checked against them here.
			module.Annotations = nil
			modules[path] = module
			if found != nil {
				checks = append(checks, *found)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return modules, checks, nil
}

// describe reads what the metadata of a module says; a library is no check.
func describe(module *ast.Module) (found *check, isOutdated bool) {
	name := module.Package.Path.String()
	if !strings.HasPrefix(name, "data.builtin.") {
		return nil, false
	}
	found = &check{ID: name, query: name + ".deny"}
	for _, annotations := range module.Annotations {
		if annotations.Scope != "package" {
			continue
		}
		found.Title = annotations.Title
		if id, ok := annotations.Custom["id"].(string); ok {
			found.ID = id
		}
		if severity, ok := annotations.Custom["severity"].(string); ok {
			found.Severity = severity
		}
		if deprecated, ok := annotations.Custom["deprecated"].(bool); ok && deprecated {
			return nil, true
		}
	}
	return found, false
}

func judge(compiler *ast.Compiler, each check, objects []map[string]any) ([]finding, error) {
	ctx := context.Background()
	query, err := rego.New(rego.Query(each.query), rego.Compiler(compiler), newResult()).PrepareForEval(ctx)
	if err != nil {
		return nil, err
	}
	findings := []finding{}
	for _, object := range objects {
		results, err := query.Eval(ctx, rego.EvalInput(object))
		if err != nil {
			return nil, err
		}
		for _, result := range results {
			denials, _ := result.Expressions[0].Value.([]any)
			for _, denial := range denials {
				findings = append(findings, finding{Check: each.ID, Object: nameOf(object), Message: messageOf(denial)})
			}
		}
	}
	return findings, nil
}

func nameOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	return fmt.Sprintf("%v/%v", object["kind"], metadata["name"])
}

func messageOf(denial any) string {
	if result, ok := denial.(map[string]any); ok {
		return fmt.Sprint(result["msg"])
	}
	return fmt.Sprint(denial)
}

// result.new is Trivy's own: it adds the place in the file to a message, which objects do not have.
var resultNew = rego.Function{
	Name: "result.new",
	Decl: types.NewFunction(types.Args(types.S, types.A), types.A),
}

func newResult() func(*rego.Rego) {
	return rego.Function2(&resultNew, func(_ rego.BuiltinContext, message, _ *ast.Term) (*ast.Term, error) {
		return ast.ObjectTerm(ast.Item(ast.StringTerm("msg"), message)), nil
	})
}

func capabilities() *ast.Capabilities {
	known := ast.CapabilitiesForThisVersion()
	known.Builtins = append(known.Builtins, &ast.Builtin{Name: resultNew.Name, Decl: resultNew.Decl})
	return known
}
