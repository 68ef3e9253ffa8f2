{{/*
A role with its binding. Takes (dict "root" $ "component" "operator" "name" "…" "rules" "…" "serviceAccount" "…") and
"namespace" for a Role, without it for a ClusterRole; "annotations" for both.
*/}}
{{- define "culvert.boundRole" -}}
{{- $metadata := include "culvert.roleMetadata" . -}}
{{- $kind := ternary "Role" "ClusterRole" (hasKey . "namespace") -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
{{ $metadata }}
{{ .rules }}
---
{{ include "culvert.roleBinding" (merge (dict "kind" $kind) .) }}
{{- end -}}

{{/* A binding of the role with the same name. Takes the same as `culvert.boundRole`, and the "kind" of the role. */}}
{{- define "culvert.roleBinding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "Role" "ClusterRole" (hasKey . "namespace") }}Binding
{{ include "culvert.roleMetadata" . }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .serviceAccount }}
    namespace: {{ .root.Release.Namespace }}
{{- end -}}

{{- define "culvert.roleMetadata" -}}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "culvert.labels" . | nindent 4 }}
  {{- with include "culvert.annotations" . }}{{ nindent 2 . }}{{ end }}
{{- end -}}
