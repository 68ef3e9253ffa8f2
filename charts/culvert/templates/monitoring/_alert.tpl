{{/*
An alert of files/alerts.yaml with the changes from the values. Takes (dict "rule" rule "values" .Values.prometheusRule
"change" map), where "change" has the settings of this alert only. Relies on the file having braces after every metric and
the threshold at the end.
*/}}
{{- define "culvert.alert" -}}
{{- $rule := .rule -}}
{{- $values := .values -}}
{{- $change := .change -}}
{{- $expression := $rule.expr -}}
{{- if hasKey $change "threshold" -}}
{{- if not (regexMatch "[<>] [0-9.]+$" $expression) }}{{ fail (printf "prometheusRule.alerts.%s.threshold: this alert has none" $rule.alert) }}{{ end -}}
{{- $expression = regexReplaceAll "[0-9.]+$" $expression (toString $change.threshold) -}}
{{- end -}}
{{- with $values.selector -}}
{{- $expression = replace "{" (printf "{%s," .) $expression -}}
{{- end -}}
{{- $link := dict -}}
{{- with $values.runbookURL }}{{ $_ := set $link "runbook_url" (printf "%s#%s" . (lower $rule.alert)) }}{{ end -}}
{{- $annotations := merge $link $rule.annotations $values.ruleAnnotations -}}
{{- $labels := merge dict (pick $change "severity") $values.ruleLabels $rule.labels -}}
{{- $changed := dict "expr" $expression "labels" $labels "annotations" $annotations -}}
{{- toYaml (merge $changed (pick $change "for") $rule) -}}
{{- end -}}
