{{/* Refuses values that are valid by themselves, but not together. */}}
{{- define "culvert.validate" -}}
{{- with .Values -}}
{{- if and (gt (int .replicas) 1) (not .leaderElection.enabled) -}}
{{- fail "replicas: more than one operator needs leaderElection.enabled=true: without a Lease all of them would act at once" -}}
{{- end -}}
{{- range $which := list "accounts" "namespaces" -}}
{{- if and (index $.Values.selectors $which) (not $.Values.operator.installation) -}}
{{- fail (printf "selectors.%s: releases that divide accounts need one id for all objects: set the same operator.installation for each" $which) -}}
{{- end -}}
{{- if and (index $.Values.selectors $which) (not $.Values.leaderElection.enabled) -}}
{{- fail (printf "selectors.%s: others see by the Lease whether this release lives: set leaderElection.enabled=true" $which) -}}
{{- end -}}
{{- end -}}
{{- if and .selectors.namespaces .watchNamespaces -}}
{{- fail "selectors.namespaces: an operator with watchNamespaces does not see the labels of namespaces; remove one of the two" -}}
{{- end -}}
{{- if and .tunnels.templates.enabled (not .tunnels.enabled) -}}
{{- fail "tunnels.templates.enabled: templates are of agents: set tunnels.enabled=true too" -}}
{{- end -}}
{{- if and .tunnels.services.enabled (not .tunnels.enabled) -}}
{{- fail "tunnels.services.enabled: Services need agents: set tunnels.enabled=true too" -}}
{{- end -}}
{{- if and .tunnels.services.default (not .tunnels.services.enabled) -}}
{{- fail "tunnels.services.default: no Services are served; set tunnels.services.enabled=true too" -}}
{{- end -}}
{{- if and .caBundle.configMap .caBundle.secret -}}
{{- fail "caBundle: name a configMap or a secret, not both" -}}
{{- end -}}
{{- if and .serviceMonitor.enabled (not .service.enabled) -}}
{{- fail "serviceMonitor.enabled: a ServiceMonitor finds Pods through the Service; set service.enabled=true, or use podMonitor.enabled" -}}
{{- end -}}
{{- with .metrics.authentication -}}
{{- if and .readers (not .enabled) -}}
{{- fail "metrics.authentication.readers: this right has no effect without authentication; set metrics.authentication.enabled=true" -}}
{{- end -}}
{{- end -}}
{{- if and .image.tag .image.digest -}}
{{- fail "image: set a tag or a digest, not both; a released chart has a digest, so set image.digest=\"\" beside a tag" -}}
{{- end -}}
{{- range $reserved := list "kube-system" "kube-public" "kube-node-lease" -}}
{{- if and $.Values.admissionPolicy.operator.enabled (has $reserved $.Values.watchNamespaces) -}}
{{- fail (printf "watchNamespaces: %s belongs to Kubernetes, and the admission policy refuses outputs there; remove it" $reserved) -}}
{{- end -}}
{{- end -}}
{{- if .clusterAccount.enabled -}}
{{- if .watchNamespaces -}}
{{- fail "clusterAccount.enabled: an operator with watchNamespaces does not watch ClusterAccounts; create an Account in each namespace" -}}
{{- end -}}
{{- if and (not .clusterAccount.baseURL) (not .emulator.enabled) -}}
{{- fail "clusterAccount.baseURL: the address of the API is missing; set it, or emulator.enabled=true" -}}
{{- end -}}
{{- if and .clusterAccount.apiKey .clusterAccount.existingSecret.name -}}
{{- fail "clusterAccount: set apiKey or existingSecret.name, not both" -}}
{{- end -}}
{{- if and .clusterAccount.baseURL (not .clusterAccount.apiKey) (not .clusterAccount.existingSecret.name) -}}
{{- fail "clusterAccount: the API key of the account is missing; set existingSecret.name or apiKey" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
