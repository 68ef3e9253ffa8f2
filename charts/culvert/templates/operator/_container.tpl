{{/* Flags of `culvert operator` from the values. They are written with "=", so that no value is read as another flag. */}}
{{- define "culvert.operatorArgs" -}}
- operator
- --name={{ include "culvert.fullname" . }}
- --listen={{ if contains ":" .Values.operator.host }}[{{ .Values.operator.host }}]{{ else }}{{ .Values.operator.host }}{{ end }}:{{ .Values.operator.port }}
{{- with .Values.operator.installation }}
- {{ printf "--installation=%s" . | quote }}
{{- end }}
{{- range .Values.watchNamespaces }}
- --watch-namespace={{ . }}
{{- end }}
{{- with .Values.selectors.accounts }}
- {{ printf "--account-selector=%s" . | quote }}
{{- end }}
{{- with .Values.selectors.namespaces }}
- {{ printf "--namespace-selector=%s" . | quote }}
{{- end }}
{{- if include "culvert.holdsNamespaces" . }}
- --hold-namespaces
{{- end }}
{{- if not .Values.watchSecrets }}
- --no-watch-secrets
- --secrets-interval={{ .Values.secretsInterval }}
{{- end }}
{{- range include "culvert.allowedHosts" . | fromYamlArray }}
- {{ printf "--allow-api-host=%s" . | quote }}
{{- end }}
{{- if .Values.operator.allowHttp }}
- --allow-http
{{- end }}
{{- if .Values.dnsEndpoints.enabled }}
- --dns-endpoints
{{- with .Values.dnsEndpoints.domains }}
- {{ printf "--dns-domains=%s" (join "," .) | quote }}
{{- end }}
{{- end }}
{{- if .Values.tunnels.enabled }}
- --tunnels
- {{ printf "--agent-image=%s" (include "culvert.image" .) | quote }}
{{- range .Values.tunnels.gateways }}
- {{ printf "--allow-ssh-gateway=%s" . | quote }}
{{- end }}
{{- if .Values.tunnels.templates.enabled }}
- --tunnel-templates
{{- range .Values.tunnels.templates.images }}
- {{ printf "--allow-agent-image=%s" . | quote }}
{{- end }}
{{- range .Values.tunnels.templates.metadataKeys }}
- {{ printf "--allow-agent-metadata=%s" . | quote }}
{{- end }}
{{- range .Values.tunnels.templates.priorityClasses }}
- {{ printf "--allow-agent-priority-class=%s" . | quote }}
{{- end }}
{{- end }}
{{- if .Values.tunnels.services.enabled }}
- --services
- --service-ports={{ .Values.tunnels.services.maxPorts }}
{{- if .Values.tunnels.services.default }}
- --services-default
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.leaderElection.enabled }}
- --lease-duration={{ .Values.leaderElection.leaseDuration }}
- --renew-deadline={{ .Values.leaderElection.renewDeadline }}
- --retry-period={{ .Values.leaderElection.retryPeriod }}
{{- else }}
- --no-leader-elect
{{- end }}
- --request-timeout={{ .Values.operator.requestTimeout }}
- --scan-pause={{ .Values.operator.scanPause }}
- --read-lag={{ .Values.operator.readLag }}
- --watch-silence={{ .Values.operator.watchSilence }}
- --workers={{ .Values.operator.workers }}
- --api-requests={{ .Values.operator.apiRequests }}
- --log-level={{ .Values.operator.logLevel }}
{{- if .Values.metrics.authentication.enabled }}
- --metrics-authentication
{{- end }}
- {{ printf "--audit-log=%s" .Values.operator.auditLog | quote }}
{{- with .Values.operator.otlpEndpoint }}
- {{ printf "--otlp-endpoint=%s" . | quote }}
{{- end }}
{{- range .Values.operator.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{/* Hosts that accounts may use: those in the values, and the emulator over plain http. */}}
{{- define "culvert.allowedHosts" -}}
{{- $hosts := .Values.operator.allowApiHosts -}}
{{- if .Values.emulator.enabled -}}
{{- $hosts = append $hosts (printf "http://%s" (include "culvert.emulatorHost" .)) -}}
{{- end -}}
{{- toYaml (uniq $hosts) -}}
{{- end -}}

{{- define "culvert.operatorEnv" -}}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- with .Values.proxy.http }}
- name: HTTP_PROXY
  value: {{ . | quote }}
{{- end }}
{{- with .Values.proxy.https }}
- name: HTTPS_PROXY
  value: {{ . | quote }}
{{- end }}
{{- with .Values.proxy }}
{{- if or .http .https .noProxy }}
- name: NO_PROXY
  value: {{ compact (list "$(KUBERNETES_SERVICE_HOST)" ".svc" .noProxy) | join "," | quote }}
{{- end }}
{{- end }}
{{- if or .Values.caBundle.configMap .Values.caBundle.secret }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/culvert/ca/{{ .Values.caBundle.key }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
