// Command judge says how GitOps tools see Kubernetes objects: by kstatus, with Flux's own library, and by a health
// script, in the Lua that Argo CD runs it in. It reads {"script": "...", "objects": [...]} and writes a verdict for
// each object, both as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
)

type question struct {
	Script  string            `json:"script"`
	Objects []json.RawMessage `json:"objects"`
}

type verdict struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type answer struct {
	Kstatus verdict `json:"kstatus"`
	Argo    verdict `json:"argo"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func run() error {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	answers := make([]answer, 0, len(asked.Objects))
	for _, text := range asked.Objects {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			return err
		}
		computed, err := status.Compute(object)
		if err != nil {
			return fmt.Errorf("kstatus: %w", err)
		}
		health, err := healthOf(asked.Script, text)
		if err != nil {
			return fmt.Errorf("health script: %w", err)
		}
		answers = append(answers, answer{Kstatus: verdict{computed.Status.String(), computed.Message}, Argo: health})
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}

// healthOf runs a script as Argo CD does: no libraries but these, the object as the global `obj`, a table as the
// answer.
func healthOf(script string, text []byte) (verdict, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName:   lua.OpenPackage,
		lua.BaseLibName:   lua.OpenBase,
		lua.TabLibName:    lua.OpenTable,
		lua.StringLibName: lua.OpenString,
		lua.MathLibName:   lua.OpenMath,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return verdict{}, err
		}
	}
	object, err := luajson.Decode(state, text)
	if err != nil {
		return verdict{}, err
	}
	state.SetGlobal("obj", object)
	if err := state.DoString(script); err != nil {
		return verdict{}, err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return verdict{}, fmt.Errorf("returned %s, not a table", state.Get(-1).Type())
	}
	return verdict{lua.LVAsString(table.RawGetString("status")), lua.LVAsString(table.RawGetString("message"))}, nil
}
