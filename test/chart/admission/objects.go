package main

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	apps "k8s.io/kubernetes/pkg/apis/apps/install"
	authentication "k8s.io/kubernetes/pkg/apis/authentication/install"
	authorization "k8s.io/kubernetes/pkg/apis/authorization/install"
	coordination "k8s.io/kubernetes/pkg/apis/coordination/install"
	core "k8s.io/kubernetes/pkg/apis/core/install"
	events "k8s.io/kubernetes/pkg/apis/events/install"
	policy "k8s.io/kubernetes/pkg/apis/policy/install"
	rbac "k8s.io/kubernetes/pkg/apis/rbac/install"
)

var scheme = newScheme()
var codecs = serializer.NewCodecFactory(scheme)

func newScheme() *runtime.Scheme {
	made := runtime.NewScheme()
	metav1.AddToGroupVersion(made, metav1.SchemeGroupVersion)
	for _, install := range []func(*runtime.Scheme){
		apps.Install, authentication.Install, authorization.Install, coordination.Install, core.Install, events.Install,
		policy.Install, rbac.Install,
	} {
		install(made)
	}
	return made
}

// admitted returns an object as validating admission sees it: with defaults, after conversion to the internal version
// and back. An object of another type stays as it is.
func admitted(object map[string]any) (runtime.Object, error) {
	if object == nil {
		return nil, nil
	}
	plain := &unstructured.Unstructured{Object: object}
	kind := plain.GroupVersionKind()
	if !scheme.Recognizes(kind) {
		return plain, nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	internal, err := runtime.Decode(codecs.UniversalDecoder(), text)
	if err != nil {
		return nil, err
	}
	versioned, err := scheme.ConvertToVersion(internal, kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	versioned.GetObjectKind().SetGroupVersionKind(kind)
	return versioned, nil
}
