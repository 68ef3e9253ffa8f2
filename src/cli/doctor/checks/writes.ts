import { type Refusal, refusalOf, remedyOf } from '../../../kube/refused-fields.ts'
import { deploymentType, serviceAccountType } from '../../../managed/tunnels/tunnel-resource.ts'
import { systemRandom } from '../../../util/random.ts'
import { CommandError } from '../../cluster/command-error.ts'
import type { Finding } from '../finding.ts'
import { type Operator, type Patient, unlessForbidden } from '../patient.ts'
import { type DeployedOperator, deployedOperator, type OperatorDeployment } from '../writes/deployed-operator.ts'
import type { FailedWrite } from '../writes/dry-run.ts'
import { tryWrites } from '../writes/try-writes.ts'

/**
 * Whether the API server accepts what the operators write: each kind of write is tried with the operator's rights,
 * without storing anything.
 */
export async function checkWrites(patient: Patient): Promise<readonly Finding[]> {
  return (await Promise.all(patient.operators.map((operator) => checkOperator(patient, operator)))).flat()
}

async function checkOperator(patient: Patient, { leader }: Operator): Promise<readonly Finding[]> {
  if (leader.type !== 'leading' && leader.type !== 'silent') return []
  const { namespace, release: name } = leader
  const { kube } = patient.cluster
  const object = `what the operator in namespace ${namespace} writes`
  const findings: Finding[] = []
  const deployments = await unlessForbidden('writes', object, findings, () => {
    return kube.listAll<OperatorDeployment>(deploymentType, [namespace])
  })
  // One that runs elsewhere uses no ServiceAccount that is known here.
  const operator = deployedOperator(deployments ?? [], { namespace, name })
  return operator === undefined ? findings : await tryAs(patient, operator, object)
}

async function tryAs(patient: Patient, operator: DeployedOperator, object: string): Promise<readonly Finding[]> {
  const { cluster, accounts, members } = patient
  const { namespace, serviceAccount, watched } = operator
  const here = watched.length === 0 || watched.includes(cluster.namespace) ? cluster.namespace : (watched[0] ?? '')
  const call = { verb: 'impersonate', type: serviceAccountType, namespace, name: serviceAccount }
  const kube = cluster.impersonate(`system:serviceaccount:${namespace}:${serviceAccount}`)
  try {
    const resources = [...accounts, ...members].filter(({ metadata }) => (metadata.namespace ?? here) === here)
    const { kinds, clock } = cluster
    const trial = { kube, kinds, operator, namespace: here, resources, clock, random: systemRandom }
    const { failures } = await cluster.kube.run(call, () => tryWrites(trial))
    return findingsOf(failures, object)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return [{ severity: 'unchecked', check: 'writes', object, cause: error.message, command: error.command }]
  } finally {
    await kube.close()
  }
}

/** How RBAC refuses. */
const LACKS_RIGHT = / cannot \w+ resource /
/** The administrator wants it so. */
const IS_PROTECTED = /into protected namespaces$/

/** What is wrong, by what was refused: all fields together, since one list in the chart admits them. */
export function findingsOf(failures: readonly FailedWrite[], object: string): readonly Finding[] {
  // What exists has been admitted before its name was looked up; a type may be absent.
  const real = failures.filter(({ error }) => !['AlreadyExists', 'Conflict', 'NotFound'].includes(error.code))
  const refused = real.flatMap(({ error, write }) => refusalOf(error, write)?.fields ?? [])
  const [sent, added] = Object.values(Object.groupBy(refused, ({ isSent }) => (isSent ? 0 : 1)))
  return [
    ...[sent, added].flatMap((fields) => (fields === undefined ? [] : [refusalFinding({ fields }, object)])),
    ...real
      .filter(({ error, write }) => (refusalOf(error, write)?.fields ?? []).length === 0)
      .map(otherFinding(object)),
  ]
}

function refusalFinding(refusal: Refusal, object: string): Finding {
  const names = [...new Set(refusal.fields.map(({ name }) => name.split('.')[0]))].join(', ')
  const cause = `the admission policy for the operator refuses fields of ${names}`
  const remedy = `${capital(remedyOf(refusal))}.`
  return { severity: 'error', check: 'writes', object, cause, remedy }
}

function otherFinding(object: string): (failure: FailedWrite) => Finding {
  return ({ error, write }) => {
    const about = { check: 'writes', object, cause: error.message } as const
    const refusal = refusalOf(error, write)
    if (refusal !== undefined) {
      if (IS_PROTECTED.test(error.message)) return { ...about, severity: 'unchecked' }
      return { ...about, severity: 'error', remedy: `${capital(remedyOf(refusal))}.` }
    }
    if (error.code !== 'Forbidden') return { ...about, severity: 'unchecked' }
    const remedy = LACKS_RIGHT.test(error.message)
      ? 'Upgrade the release, so that its roles and the operator are of the same version.'
      : 'Find the admission webhook, policy or quota that refuses it.'
    return { ...about, severity: 'error', remedy }
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
