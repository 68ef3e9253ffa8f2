import type { Scene } from '../scene.ts'
import { accounts, closed, clusterAccounts, isOpen } from './accounts.ts'
import { atRest } from './at-rest.ts'
import { certificatesFailing, certificatesPending, dnsEndpoints, renewalFailing } from './certificates.ts'
import { chosen } from './chosen.ts'
import { deletingBegun, deletingInUse } from './deleting.ts'
import { refused } from './refused.ts'
import { reported, updating } from './reported.ts'
import { replacing, rotationFailing } from './rotation.ts'
import { leftOut, sessions } from './sessions.ts'
import { unresolvedLost, unresolvedMade } from './unresolved.ts'
import { waiting } from './waiting.ts'

/** In playing order: what a scene installs in the cluster stays for those after it. */
export const scenes: readonly Scene[] = [
  atRest,
  chosen,
  waiting,
  unresolvedLost,
  unresolvedMade,
  refused,
  replacing,
  rotationFailing,
  certificatesPending,
  certificatesFailing,
  renewalFailing,
  deletingBegun,
  deletingInUse,
  accounts,
  isOpen,
  closed,
  clusterAccounts,
  sessions,
  leftOut,
  updating,
  reported,
  dnsEndpoints,
]
