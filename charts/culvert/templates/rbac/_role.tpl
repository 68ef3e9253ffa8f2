{{/*
A role with its binding. Takes (dict "root" $ "component" "operator" "name" "…" "rules" "…" "serviceAccount" "…") and
"namespace" for a Role, nothing of it for a ClusterRole; "annotations" for both.
*/}}
{{- define "culvert.boundRole" -}}
{{- $metadata := include "culvert.roleMetadata" . -}}
{{- $kind := ternary "Role" "ClusterRole" (hasKey . "namespace") -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
{{ $metadata }}
{{ .rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
{{ $metadata }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
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
