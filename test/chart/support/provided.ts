import 'vitest'

declare module 'vitest' {
  /** What `global-setup.ts` provides to the chart suite; read with `inject`. */
  interface ProvidedContext {
    /** Paths of the Helm programs, by major version. */
    helms: { readonly 3: string; readonly 4: string }
    kubeconformPath: string
    /** Programs that lint objects: kube-score, and the one that evaluates Trivy's checks. */
    judges: { readonly kubeScore: string; readonly trivyRules: string }
    /** Folder of JSON schemas, in the form of kubeconform's `-schema-location`. */
    schemasFolder: string
  }
}
