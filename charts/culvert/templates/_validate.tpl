{{/* Refuses values that are valid by themselves, but not together. */}}
{{- define "culvert.validate" -}}
{{- with .Values -}}
{{- if and (gt (int .replicas) 1) (not .leaderElection.enabled) -}}
{{- fail "replicas: more than one operator requires leaderElection.enabled=true: without a Lease, all of them would be active" -}}
{{- end -}}
{{- with .leaderElection -}}
{{- $lease := include "culvert.milliseconds" .leaseDuration | float64 -}}
{{- $renew := include "culvert.milliseconds" .renewDeadline | float64 -}}
{{- $retry := include "culvert.milliseconds" .retryPeriod | float64 -}}
{{- if and .enabled (not (and (gt $retry 0.0) (lt $retry $renew) (lt $renew $lease))) -}}
{{- fail (printf "leaderElection: retryPeriod (%s) must be shorter than renewDeadline (%s), which must be shorter than leaseDuration (%s)" .retryPeriod .renewDeadline .leaseDuration) -}}
{{- end -}}
{{- $timeout := $.Values.operator.requestTimeout -}}
{{- if and .enabled (not (lt (include "culvert.milliseconds" $timeout | float64) (subf $lease $renew))) -}}
{{- fail (printf "operator.requestTimeout: %s must be shorter than leaderElection.leaseDuration (%s) minus renewDeadline (%s): a write of a former leader could otherwise overlap with a new one" $timeout .leaseDuration .renewDeadline) -}}
{{- end -}}
{{- end -}}
{{- range $which := list "accounts" "namespaces" -}}
{{- if and (index $.Values.selectors $which) (not $.Values.operator.installation) -}}
{{- fail (printf "selectors.%s: releases that divide accounts need a common installation id: set the same operator.installation in each" $which) -}}
{{- end -}}
{{- if and (index $.Values.selectors $which) (not $.Values.leaderElection.enabled) -}}
{{- fail (printf "selectors.%s: other releases use the Lease to detect whether this one is running: set leaderElection.enabled=true" $which) -}}
{{- end -}}
{{- end -}}
{{- if and .selectors.namespaces .watchNamespaces -}}
{{- fail "selectors.namespaces: an operator with watchNamespaces cannot read the labels of namespaces; remove one of the two" -}}
{{- end -}}
{{- if and .tunnels.enabled (not .tunnels.gateways) -}}
{{- fail "tunnels.gateways: agents need a gateway; list those of your accounts (spec.sshGateway) as host:port" -}}
{{- end -}}
{{- if and .tunnels.templates.enabled (not .tunnels.enabled) -}}
{{- fail "tunnels.templates.enabled: templates require agents: also set tunnels.enabled=true" -}}
{{- end -}}
{{- if and .tunnels.services.enabled (not .tunnels.enabled) -}}
{{- fail "tunnels.services.enabled: Services require agents: also set tunnels.enabled=true" -}}
{{- end -}}
{{- if and .tunnels.services.default (not .tunnels.services.enabled) -}}
{{- fail "tunnels.services.default: no Services are served; also set tunnels.services.enabled=true" -}}
{{- end -}}
{{- if and .caBundle.configMap .caBundle.secret -}}
{{- fail "caBundle: set configMap or secret, not both" -}}
{{- end -}}
{{- if and .serviceMonitor.enabled (not .service.enabled) -}}
{{- fail "serviceMonitor.enabled: a ServiceMonitor finds Pods through the Service; set service.enabled=true, or use podMonitor.enabled" -}}
{{- end -}}
{{- with .metrics.authentication -}}
{{- if and .readers (not .enabled) -}}
{{- fail "metrics.authentication.readers: this has no effect without authentication; set metrics.authentication.enabled=true" -}}
{{- end -}}
{{- end -}}
{{- if and .image.tag .image.digest -}}
{{- fail "image: set a tag or a digest, not both; a released chart has a digest, so set image.digest=\"\" together with a tag" -}}
{{- end -}}
{{- range $reserved := list "kube-system" "kube-public" "kube-node-lease" -}}
{{- if and $.Values.admissionPolicy.operator.enabled (has $reserved $.Values.watchNamespaces) -}}
{{- fail (printf "watchNamespaces: %s belongs to Kubernetes, and the admission policy refuses outputs there; remove it" $reserved) -}}
{{- end -}}
{{- end -}}
{{- if .clusterAccount -}}
{{- fail "clusterAccount: the ClusterAccount has its own chart, culvert-account; remove these values. The existing one is kept; docs/install.md#the-clusteraccount describes how that chart takes it over" -}}
{{- end -}}
{{- end -}}
{{- end -}}
