/** What the demo has running. */
export interface Running {
  readonly kubeconfigPath: string
  readonly kubectlPath: string
  readonly emulatorUrl: string
  readonly apiKey: string
  readonly adminToken: string
  readonly operatorLog: string
}

/** How to look around, for the person at the terminal. The keys are of an emulator that ends with the demo. */
export function guide(running: Running): string {
  const { emulatorUrl, apiKey, adminToken } = running
  return `
Look around in another terminal:

  export KUBECONFIG=${shellQuote(running.kubeconfigPath)}
  alias kubectl=${shellQuote(running.kubectlPath)}

  kubectl get culvert -A                              every resource
  kubectl -n quickstart describe edge shop            its conditions, references and Events
  kubectl -n quickstart edit ippolicy office          the account follows
  kubectl -n quickstart delete ippolicy office        waits: an Edge uses it
  kubectl explain edge.spec.hostports                 what a field means

The account behind them:

  curl -H 'Authorization: Bearer ${apiKey}' -H 'Service-Version: 2' ${emulatorUrl}/edges/tls
  curl -H 'Authorization: Bearer ${adminToken}' ${emulatorUrl}/_emulator/journal

The operator's log: ${running.operatorLog}

Ctrl-C ends all of it.
`
}

function shellQuote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
