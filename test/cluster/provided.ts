import 'vitest'

declare module 'vitest' {
  /** What `global-setup.ts` gives to the cluster suite; read with `inject`. */
  interface ProvidedContext {
    /** Of an administrator of the suite's cluster. */
    kubeconfigPath: string
    /** Whether the cluster ends with the suite: false when it was given by CULVERT_TEST_KUBECONFIG. */
    isThrowaway: boolean
    /** The suite's audit log; undefined when the cluster was given by CULVERT_TEST_KUBECONFIG. */
    auditLogPath: string | undefined
    /**
     * What the suite's cluster held before any test, for `ControlPlaneOptions.data`; undefined when the cluster was
     * given by CULVERT_TEST_KUBECONFIG.
     */
    clusterData: string | undefined
    /** A kubectl program. */
    kubectlPath: string
  }
}
