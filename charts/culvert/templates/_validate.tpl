{{/* Refuses values that are valid by themselves, but not together. */}}
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
{{- with .metrics.authentication -}}
{{- if and .readers (not .enabled) -}}
{{- fail "metrics.authentication.readers: they get a right that nobody asks for; set metrics.authentication.enabled=true" -}}
{{- end -}}
{{- end -}}
{{- if and .image.tag .image.digest -}}
{{- fail "image: give a tag or a digest, not both: a released chart has a digest, so with a tag set image.digest=\"\"" -}}
{{- end -}}
{{- range $reserved := list "kube-system" "kube-public" "kube-node-lease" -}}
{{- if and $.Values.admissionPolicy.operator.enabled (has $reserved $.Values.watchNamespaces) -}}
{{- fail (printf "watchNamespaces: %s belongs to Kubernetes, and the admission policy refuses outputs there; leave it out" $reserved) -}}
{{- end -}}
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
