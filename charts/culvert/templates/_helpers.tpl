{{- define "culvert.chartName" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* 52 characters leave room for the longest suffix. */}}
{{- define "culvert.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "culvert.chartName" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Names of cluster-scoped objects include the namespace, so that releases in two namespaces do not share one. */}}
{{- define "culvert.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "culvert.fullname" .) -}}
{{- end -}}

{{- define "culvert.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "culvert.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "culvert.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{- printf "%s@%s" .repository .digest -}}
{{- else -}}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the Pods of a component. Takes (dict "root" $ "component" "operator"). */}}
{{- define "culvert.selectorLabels" -}}
app.kubernetes.io/name: {{ include "culvert.chartName" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/*
Labels of an object of a component. Takes (dict "root" $ "component" "operator" "extra" map), where "extra" is optional;
"template" is true for a Pod template, which must not change with the chart version alone.
*/}}
{{- define "culvert.labels" -}}
{{- $own := include "culvert.selectorLabels" . | fromYaml -}}
{{- $more := dict
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/managed-by" .root.Release.Service
  "app.kubernetes.io/part-of" "culvert"
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_") -}}
{{- if .template }}{{ $more = omit $more "helm.sh/chart" }}{{ end -}}
{{- toYaml (merge $own $more (default dict .extra) .root.Values.commonLabels) -}}
{{- end -}}

{{/* `annotations:` with the object's own and the common ones, or nothing. Takes (dict "root" $ "annotations" map). */}}
{{- define "culvert.annotations" -}}
{{- with merge dict (default dict .annotations) .root.Values.commonAnnotations -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Rules generated from the kinds. Takes (dict "root" $ "name" "cluster"). */}}
{{- define "culvert.rules" -}}
{{- $path := printf "files/rbac/%s.yaml" .name -}}
{{- $rules := .root.Files.Get $path -}}
{{- if not $rules }}{{ fail (printf "%s is not in the chart" $path) }}{{ end -}}
{{- toYaml (pick ($rules | fromYaml) "rules") -}}
{{- end -}}

{{- define "culvert.watchedRules" -}}
{{- $scope := ternary "namespace" "cluster" (gt (len .Values.watchNamespaces) 0) -}}
{{- $rules := (include "culvert.rules" (dict "root" . "name" (printf "%s%s" $scope (ternary "" "-no-watch-secrets" .Values.watchSecrets))) | fromYaml).rules -}}
{{- if .Values.dnsEndpoints.enabled -}}
{{- $rules = concat $rules (include "culvert.rules" (dict "root" . "name" "dns-endpoints") | fromYaml).rules -}}
{{- end -}}
{{- if .Values.tunnels.enabled -}}
{{- $rules = concat $rules (include "culvert.rules" (dict "root" . "name" "tunnels") | fromYaml).rules -}}
{{- if .Values.tunnels.services.enabled -}}
{{- $rules = concat $rules (include "culvert.rules" (dict "root" . "name" "services") | fromYaml).rules -}}
{{- end -}}
{{- end -}}
{{- toYaml (dict "rules" $rules) -}}
{{- end -}}

{{/* "true" if the operator keeps a RoleBinding in each watched namespace while resources there need it, else nothing. */}}
{{- define "culvert.holdsNamespaces" -}}
{{- if and .Values.watchNamespaces .Values.rbac.create .Values.rbac.holdNamespaces }}true{{ end -}}
{{- end -}}

{{/* Name of the ServiceAccount, and of the Secret with its token, with which Prometheus reads metrics; empty if there is none. */}}
{{- define "culvert.ownReader" -}}
{{- with .Values.metrics.authentication -}}
{{- if and .enabled (not .tokenSecret.name) (or $.Values.serviceMonitor.enabled $.Values.podMonitor.enabled) -}}
{{- printf "%s-metrics-reader" (include "culvert.fullname" $) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The operator derives the same name from its namespace and name. */}}
{{- define "culvert.holdName" -}}
{{- printf "%s-hold" (include "culvert.clusterName" .) -}}
{{- end -}}

{{- define "culvert.emulatorName" -}}
{{- printf "%s-emulator" (include "culvert.fullname" .) -}}
{{- end -}}

{{- define "culvert.emulatorHost" -}}
{{- printf "%s.%s.svc:%d" (include "culvert.emulatorName" .) .Release.Namespace (int .Values.emulator.port) -}}
{{- end -}}

{{/* Milliseconds of a duration such as 1m30s. */}}
{{- define "culvert.milliseconds" -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll "[0-9.]+[a-z]+" . -1 -}}
{{- $unit := get (dict "ms" 1.0 "s" 1000.0 "m" 60000.0 "h" 3600000.0) (regexFind "[a-z]+" .) -}}
{{- $sum = addf $sum (mulf (float64 (regexFind "[0-9.]+" .)) $unit) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{/* Shared by the Pods of all components. */}}
{{- define "culvert.podBasics" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "culvert.containerBasics" -}}
image: {{ include "culvert.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
{{- end -}}
