import { ref } from './account.ts'
import { quiet } from './edits.ts'

export const range = '198.51.100.0/24'

/** Whether people know that a change may lock Culvert out concerns only the operator. */
export const acknowledgedEdits = quiet(
  { acknowledgeAPIRestriction: true },
  { acknowledgeAPIRestriction: false },
  { acknowledgeAPIRestriction: undefined },
)

export const policyPlace = ref(['office', 'home'], ['ipp_lab'])
