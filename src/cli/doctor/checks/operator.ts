import { counted } from '../../../util/printable.ts'
import { stateOf } from '../../cluster/resource-state.ts'
import { spanText } from '../../terminal/line.ts'
import type { Finding } from '../finding.ts'
import { type Operator, objectText, type Patient } from '../patient.ts'

/** Longest that a clock may be off before tokens, certificates and leases suffer. Milliseconds. */
const CLOCK_MS = 30_000

/** Whether the operators lead: that of the flags, and each that has claimed accounts. */
export function checkOperators(patient: Patient): readonly Finding[] {
  return patient.operators.flatMap((operator) => checkOperator(patient, operator))
}

function checkOperator({ members, operatorNamespace }: Patient, operator: Operator): readonly Finding[] {
  const { accounts, claimant, leader } = operator
  const object = claimant === undefined ? `the operator in namespace ${operatorNamespace}` : `operator ${claimant}`
  const about = { check: 'operator', object } as const
  switch (leader.type) {
    case 'leading':
      return []
    case 'silent': {
      const { holder, namespace, silentMs } = leader
      const last = holder === undefined ? 'its last holder released it' : `${holder} held it last`
      const cause = `its Lease was last renewed ${spanText(silentMs)} ago, and ${last}: ${idleText(operator)}`
      const remedy = 'Start the operator, or find out from its Pods why it does not run.'
      return [{ ...about, severity: 'error', cause, remedy, command: `kubectl get pods -n ${namespace}` }]
    }
    case 'none': {
      if (claimant !== undefined) {
        const cause = `it has no Lease: ${idleText(operator)}`
        return [{ ...about, severity: 'error', cause, remedy: MOVE_ACCOUNTS, command: LEASES }]
      }
      const all = [...accounts, ...members]
      const unreported = all.filter((resource) => stateOf(resource).phase === 'unseen')
      // Where some resource has conditions, an operator without a Lease may have another reason for not reporting.
      const isMissing = unreported.length > 0 && unreported.length === all.length
      return [
        {
          ...about,
          severity: isMissing ? 'error' : 'unchecked',
          cause: isMissing
            ? `there is no Lease of an operator, and nobody has reported on ${counted(unreported.length, 'resource')}: none runs`
            : 'there is no Lease of an operator; one that runs without leader election cannot be seen',
          command: LEASES,
        },
      ]
    }
    case 'unknown':
      return [{ ...about, severity: 'unchecked', cause: leader.error.message, command: leader.error.command }]
  }
}

const LEASES = 'kubectl get leases --all-namespaces'
const MOVE_ACCOUNTS =
  'Start the operator, or label the accounts for another one in its namespace (docs/dividing-accounts.md).'

/** What does not happen while the operator does not run. */
function idleText({ accounts, claimant }: Operator): string {
  if (claimant === undefined) return 'nothing is reconciled'
  const [first] = accounts.map(objectText)
  const others = accounts.length > 1 ? ` and ${counted(accounts.length - 1, 'other account')}` : ''
  return `nothing of ${first}${others} is reconciled until it runs, or until another operator that selects the account takes over`
}

/** Whether this machine's clock agrees with an API's, in milliseconds of wall time. */
export function clockFinding(object: string, theirs: number, ours: number): readonly Finding[] {
  const off = Math.abs(theirs - ours)
  if (off <= CLOCK_MS) return []
  return [
    {
      severity: 'warning',
      check: 'clock',
      object,
      cause: `its clock and this machine's differ by ${spanText(off)}`,
      remedy: 'Set the clock of whichever is wrong: certificates are valid for the wrong time, and their ages mislead.',
      command: 'date -u',
    },
  ]
}
