{{- define "sallyport.labels" -}}
app.kubernetes.io/name: sallyport
app.kubernetes.io/part-of: sallyport
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "sallyport.selector" -}}
app.kubernetes.io/name: sallyport
app.kubernetes.io/component: server
{{- if ne .Release.Name "sallyport" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- end }}

{{- define "sallyport.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "sallyport.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "sallyport.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
{{- end }}

{{- define "sallyport.databaseUrl" -}}
- name: SALLYPORT_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.secretName }}
      key: database-url
{{- end }}
