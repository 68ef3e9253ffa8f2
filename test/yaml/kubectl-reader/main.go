// Command kubectl-reader reads files as kubectl does: with the decoder of k8s.io/cli-runtime's StreamVisitor. Each line of its input
// is a file in base64, each line of its output what kubectl would send: {"documents": [...]}, or {"error": "..."}.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

type answer struct {
	Documents []json.RawMessage `json:"documents"`
	Error     string            `json:"error,omitempty"`
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return
		}
		file, problem := base64.StdEncoding.DecodeString(line[:len(line)-1])
		if err != nil || problem != nil {
			fmt.Fprintln(os.Stderr, "the input is not base64:", err, problem)
			os.Exit(1)
		}
		if err := encoder.Encode(read(file)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func read(file []byte) answer {
	decoded := transform.NewReader(bytes.NewReader(file), unicode.BOMOverride(unicode.UTF8.NewDecoder()))
	decoder := yaml.NewYAMLOrJSONDecoder(decoded, 4096)
	documents := []json.RawMessage{}
	for {
		extension := runtime.RawExtension{}
		if err := decoder.Decode(&extension); err != nil {
			if err == io.EOF {
				return answer{Documents: documents}
			}
			return answer{Documents: documents, Error: err.Error()}
		}
		raw := bytes.TrimSpace(extension.Raw)
		if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
			continue
		}
		documents = append(documents, raw)
	}
}
