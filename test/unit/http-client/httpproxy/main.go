// Prints how golang.org/x/net/http/httpproxy, which kubectl uses, decides: the table in ../httpproxy.jsonl.
//
//	go run . > ../httpproxy.jsonl
package main

import (
	"encoding/json"
	"net/url"
	"os"

	"golang.org/x/net/http/httpproxy"
)

type row struct {
	HTTPProxy  string  `json:"httpProxy"`
	HTTPSProxy string  `json:"httpsProxy"`
	NoProxy    string  `json:"noProxy"`
	URL        string  `json:"url"`
	Proxy      *string `json:"proxy"`
}

func main() {
	rows := []row{}
	add := func(http, https, no string, urls ...string) {
		config := httpproxy.Config{HTTPProxy: http, HTTPSProxy: https, NoProxy: no}
		for _, each := range urls {
			target, err := url.Parse(each)
			if err != nil {
				panic(err)
			}
			answer := row{http, https, no, each, nil}
			if proxy, err := config.ProxyFunc()(target); err != nil {
				panic(err)
			} else if proxy != nil {
				text := proxy.String()
				answer.Proxy = &text
			}
			rows = append(rows, answer)
		}
	}
	both := []string{"http://api.example.com", "https://api.example.com:8443/v1"}
	for _, proxy := range []string{"", "proxy:3128", "10.1.2.3:3128", "[2001:db8::1]:3128", "proxy", "http://proxy:3128", "https://u:p@proxy.corp:443"} {
		add(proxy, "", "", both...)
		add("", proxy, "", both...)
	}
	targets := []string{
		"https://example.com", "http://example.com", "https://example.com:8443", "https://api.example.com", "https://myexample.com",
		"https://10.1.2.3", "https://10.1.2.3:6443", "https://11.0.0.1", "https://[2001:db8::1]", "https://[2001:db9::1]:6443",
		"https://kubernetes.default.svc", "https://xn--bcher-kva.example",
	}
	for _, no := range []string{
		"*", "example.com", ".example.com", "*.example.com", "EXAMPLE.com", "example.com:8443", "example.com:443", " example.com , other ", ",,",
		"10.0.0.0/8", "10.1.2.3/8", "10.1.2.3", "10.1.2.3:6443", "10.1.2.0/33", "2001:db8::/32", "2001:db8::1", "[2001:db9::1]:6443",
		"::ffff:10.1.2.3", "0.0.0.0/0", ".svc,10.0.0.0/8", "bücher.example", "localhost", "1.2.3", "com", "other,example.com",
	} {
		add("http://plain:1", "http://secure:1", no, targets...)
	}
	encoder := json.NewEncoder(os.Stdout)
	for _, each := range rows {
		if err := encoder.Encode(each); err != nil {
			panic(err)
		}
	}
}
