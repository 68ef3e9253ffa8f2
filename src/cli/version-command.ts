import { Command } from 'commander'
import { packageVersion } from '../config.ts'
import { VERSION } from '../managed/names.ts'
import { deploymentType } from '../managed/tunnels/tunnel-resource.ts'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { CommandError } from './cluster/command-error.ts'
import { leaderOf, type OperatorFlags, operatorNamespaceOf, operatorOptions } from './cluster/operator-lease.ts'
import { checkCRDs } from './doctor/checks/crds.ts'
import { deployedOperator, type OperatorDeployment } from './doctor/writes/deployed-operator.ts'
import { type OutputFlags, outputOption } from './flags.ts'

/** Flags of `culvert version`. */
type VersionFlags = ClusterFlags & OutputFlags & OperatorFlags

/** `culvert version`: which versions work together. */
export function versionCommand(): Command {
  return outputOption(operatorOptions(clusterOptions(new Command('version'))))
    .description('Print the version of this program, of the operator, and how the CRDs of the cluster differ from it.')
    .addHelpText('after', '\nExamples:\n  culvert version\n  culvert version --output json\n')
    .action((flags: VersionFlags) => askCluster(flags, (cluster) => runVersion(cluster, flags)))
}

/** The version of an operator that runs in the cluster, or why it is unknown. */
type OperatorVersion =
  | { readonly namespace: string; readonly version: string | undefined; readonly image: string | undefined }
  | { readonly unknown: string }

/** @returns the exit code of the process */
export async function runVersion(cluster: Cluster, flags: VersionFlags): Promise<number> {
  const { kinds, out } = cluster
  const [operator, findings] = await Promise.all([operatorVersion(cluster, flags), checkCRDs({ cluster })])
  const differences = findings.map(({ object, cause }) => `${object}: ${cause}`)
  if (flags.output === 'json') {
    out.json({ client: packageVersion(), operator, crds: { version: VERSION, differences } })
    return 0
  }
  out.print(`Client:   ${packageVersion()}`)
  out.print(`Operator: ${operatorText(operator)}`)
  const same = kinds.all.length - findings.length
  out.print(`CRDs:     ${VERSION}${findings.length === 0 ? `, all ${same} as in this program` : ''}`)
  for (const each of differences) out.print(`  ${each}`)
  return 0
}

function operatorText(operator: OperatorVersion): string {
  if ('unknown' in operator) return `unknown: ${operator.unknown}`
  const { namespace, version = 'unknown', image } = operator
  return `${version} in namespace ${namespace}${image === undefined ? '' : ` (${image})`}`
}

/** From the Deployment that the chart installs, which has the version as a label. */
async function operatorVersion({ kube, clock }: Cluster, flags: OperatorFlags): Promise<OperatorVersion> {
  const namespace = operatorNamespaceOf(flags, await leaderOf(kube, clock, flags))
  try {
    const deployments = await kube.listAll<OperatorDeployment>(deploymentType, [namespace])
    const name = flags.release
    const found = deployments.find((each) => deployedOperator([each], { namespace, name }) !== undefined)
    if (found === undefined) return { unknown: `no Deployment of release ${name} in namespace ${namespace}` }
    const image = found.spec?.template?.spec?.containers?.find(({ args }) => args?.[0] === 'operator')?.image
    return { namespace, version: found.metadata.labels?.['app.kubernetes.io/version'], image }
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== 'Forbidden') throw error
    return { unknown: error.message }
  }
}
