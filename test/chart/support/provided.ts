import 'vitest'

declare module 'vitest' {
  /** What `global-setup.ts` gives to the chart suite; read with `inject`. */
  interface ProvidedContext {
    /** Paths of the Helms, by their major version. */
    helms: { readonly 3: string; readonly 4: string }
    kubeconformPath: string
    /** Programs that judge objects: kube-score, and what evaluates Trivy's checks. */
    judges: { readonly kubeScore: string; readonly trivyRules: string }
    /** Folder of JSON schemas, as kubeconform's `-schema-location` has it. */
    schemasFolder: string
  }
}
