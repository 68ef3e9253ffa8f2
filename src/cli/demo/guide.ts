import { writeCommand } from '../../managed/kubectl.ts'
import { RECONCILE_REQUESTED_AT } from '../../managed/names.ts'

/** What the demo has running. */
export interface Running {
  readonly kubeconfigPath: string
  readonly kubectlPath: string
  readonly emulatorUrl: string
  readonly apiKey: string
  readonly adminToken: string
  readonly operatorLog: string
  readonly pageUrl: string
}

/** How to explore the demo, for the person at the terminal. The keys belong to an emulator that ends with the demo. */
export function guide(running: Running): string {
  const { emulatorUrl, apiKey, adminToken } = running
  const elsewhere = `--type=merge -p '{"spec":{"rules":[{"cidr":"192.0.2.0/24","action":"Allow"}]}}'`
  const shutOut = writeCommand('patch', 'ippolicies.culvert.dev/visitors -n traffic', elsewhere)
  const readAgain = writeCommand('annotate', 'backends.culvert.dev/shop -n quickstart', `${RECONCILE_REQUESTED_AT}=now`)
  return `
Explore in another terminal:

  export KUBECONFIG=${shellQuote(running.kubeconfigPath)}
  alias kubectl=${shellQuote(running.kubectlPath)}

  kubectl get culvert -A                              every resource
  kubectl -n quickstart describe edge shop            its conditions, references and Events
  kubectl -n quickstart edit ippolicy office          the account follows
  kubectl -n quickstart delete ippolicy office        waits: an Edge uses it
  kubectl explain edge.spec.hostports                 what a field means

The page behind its edge, and the service's decision for each connection:

  curl ${running.pageUrl}
  ${shutOut}
  curl -H 'Authorization: Bearer ${adminToken}' ${emulatorUrl}/_emulator/traffic

The account behind them:

  curl -H 'Authorization: Bearer ${apiKey}' -H 'Service-Version: 2' ${emulatorUrl}/edges/tls
  curl -H 'Authorization: Bearer ${adminToken}' ${emulatorUrl}/_emulator/journal

An agent that serves the shop, simulated by the emulator; it connects from the office, as the IPRestriction requires:

  TOKEN="$(kubectl -n quickstart get secret shop-agent -o jsonpath='{.data.token}' | base64 -d)"
  curl -H 'Authorization: Bearer ${adminToken}' -H 'Content-Type: application/json' ${emulatorUrl}/_emulator/agents \\
    -d '{"token":"'"$TOKEN"'","ip":"198.51.100.7","tunnels":[{"labels":{"app":"shop","version":"1"}}]}'
  ${readAgain}
  kubectl -n quickstart get backends.culvert.dev,tunnelsessions

The operator's log: ${running.operatorLog}

Ctrl-C stops everything.
`
}

function shellQuote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
