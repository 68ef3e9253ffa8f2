{{/* Values that are well-formed each, but cannot stand together. */}}
{{- define "culvert.validate" -}}
{{- with .Values -}}
{{- if and (gt (int .replicas) 1) (not .leaderElection.enabled) -}}
{{- fail "replicas: more than one operator needs leaderElection.enabled=true: without a Lease all of them would work at once" -}}
{{- end -}}
{{- if and .caBundle.configMap .caBundle.secret -}}
{{- fail "caBundle: name a configMap or a secret, not both" -}}
{{- end -}}
{{- if and .serviceMonitor.enabled (not .service.enabled) -}}
{{- fail "serviceMonitor.enabled: it finds Pods through the Service; set service.enabled=true, or use podMonitor.enabled" -}}
{{- end -}}
{{- if .clusterAccount.enabled -}}
{{- if .watchNamespaces -}}
{{- fail "clusterAccount.enabled: an operator with watchNamespaces does not look at ClusterAccounts; make an Account in each namespace" -}}
{{- end -}}
{{- if and (not .clusterAccount.baseURL) (not .emulator.enabled) -}}
{{- fail "clusterAccount.baseURL: the address of the API is needed (or emulator.enabled=true)" -}}
{{- end -}}
{{- if and .clusterAccount.apiKey .clusterAccount.existingSecret.name -}}
{{- fail "clusterAccount: give apiKey or existingSecret.name, not both" -}}
{{- end -}}
{{- if and .clusterAccount.baseURL (not .clusterAccount.apiKey) (not .clusterAccount.existingSecret.name) -}}
{{- fail "clusterAccount: existingSecret.name (or apiKey) is needed: the key that opens the account" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
