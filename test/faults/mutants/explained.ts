/**
 * Mutants that no simulation can see, by title, and why. Whoever adds one has looked for a way to see it.
 */
export const explained: Readonly<Record<string, string>> = {
  'make each try under a nonce of its own':
    'another try is made only when the one before is surely over; what came later still bears the UID of the resource, and goes as a copy',
  'keep no answer in memory until it is stored':
    'memory saves time only: the object is found by its mark all the same, and one whose token was lost is made anew (docs/decisions/0008)',
  'believe reads that began before the last write was answered':
    'a list raises a suspicion only, and a GET settles it before anything is written; test/unit/api/account-cache sees it',
  'delete rules before adding new ones':
    'the stand-in keeps the policy from being empty whatever the order is; that no address is admitted meanwhile which both specs refuse is judged by test/unit/kinds/ip-policy-plan',
}
