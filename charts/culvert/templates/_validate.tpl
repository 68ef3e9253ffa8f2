{{/* Refuses values that are valid by themselves, but not together. */}}
{{- define "culvert.validate" -}}
{{- with .Values -}}
{{- if and (gt (int .replicas) 1) (not .leaderElection.enabled) -}}
{{- fail "replicas: more than one operator needs leaderElection.enabled=true: without a Lease all of them would act at once" -}}
{{- end -}}
{{- with .leaderElection -}}
{{- $lease := include "culvert.milliseconds" .leaseDuration | float64 -}}
{{- $renew := include "culvert.milliseconds" .renewDeadline | float64 -}}
{{- $retry := include "culvert.milliseconds" .retryPeriod | float64 -}}
{{- if and .enabled (not (and (gt $retry 0.0) (lt $retry $renew) (lt $renew $lease))) -}}
{{- fail (printf "leaderElection: retryPeriod (%s) has to be shorter than renewDeadline (%s), and that shorter than leaseDuration (%s)" .retryPeriod .renewDeadline .leaseDuration) -}}
{{- end -}}
{{- $timeout := $.Values.operator.requestTimeout -}}
{{- if and .enabled (not (lt (include "culvert.milliseconds" $timeout | float64) (subf $lease $renew))) -}}
{{- fail (printf "operator.requestTimeout: %s has to be shorter than leaderElection.leaseDuration (%s) less renewDeadline (%s): a write of a former leader could otherwise overlap with a new one" $timeout .leaseDuration .renewDeadline) -}}
{{- end -}}
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
{{- if and .tunnels.enabled (not .tunnels.gateways) -}}
{{- fail "tunnels.gateways: no agent runs without a gateway; list those of your accounts (spec.sshGateway) as host:port" -}}
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
{{- if .clusterAccount -}}
{{- fail "clusterAccount: the ClusterAccount has a chart of its own, culvert-account; remove these values. The existing one stays, and docs/install.md#the-clusteraccount says how that chart takes it over" -}}
{{- end -}}
{{- end -}}
{{- end -}}
