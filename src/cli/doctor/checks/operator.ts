import { counted } from '../../../util/counted.ts'
import { stateOf } from '../../cluster/resource-state.ts'
import { spanText } from '../../terminal/age.ts'
import type { Finding } from '../finding.ts'
import type { Patient } from '../patient.ts'

/** Longest that a clock may be off before tokens, certificates and leases suffer. Milliseconds. */
const CLOCK_MS = 30_000

/** Whether an operator leads. */
export function checkOperator({ accounts, leader, members, operatorNamespace }: Patient): readonly Finding[] {
  const about = { check: 'operator', object: `the operator in namespace ${operatorNamespace}` } as const
  switch (leader.type) {
    case 'leading':
      return []
    case 'silent': {
      const { holder, namespace, silentMs } = leader
      const last = holder === undefined ? 'its last holder released it' : `${holder} held it last`
      return [
        {
          ...about,
          severity: 'error',
          cause: `its Lease was last renewed ${spanText(silentMs)} ago, and ${last}: nothing is reconciled`,
          remedy: 'Start the operator, or find out from its Pods why it does not run.',
          command: `kubectl get pods -n ${namespace}`,
        },
      ]
    }
    case 'none': {
      const all = [...accounts, ...members]
      const untold = all.filter((resource) => stateOf(resource).phase === 'unseen')
      // Where some resource has conditions, an operator without a Lease may have another reason for not reporting.
      const isMissing = untold.length > 0 && untold.length === all.length
      return [
        {
          ...about,
          severity: isMissing ? 'error' : 'unchecked',
          cause: isMissing
            ? `there is no Lease of an operator, and nobody has reported on ${counted(untold.length, 'resource')}: none runs`
            : 'there is no Lease of an operator; one that runs without leader election cannot be seen',
          command: 'kubectl get leases --all-namespaces',
        },
      ]
    }
    case 'unknown':
      return [{ ...about, severity: 'unchecked', cause: leader.error.message, command: leader.error.command }]
  }
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
