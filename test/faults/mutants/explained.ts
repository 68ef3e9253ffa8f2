/** Mutants that no simulation can detect, by title, and why. Before you add one, look for a way to detect it. */
export const explained: Readonly<Record<string, string>> = {
  'make each try under a nonce of its own':
    'another try is made only when the one before is surely over; what came later still bears the UID of the resource, and goes as a copy',
  'look for no UID: an object with the mark of any life will do':
    'a nonce is made for one create by chance, and an attempt that was copied with it is ignored for its UID before anything is looked for',
  'keep no answer in memory until it is stored':
    'memory saves time only: the object is found by its mark all the same, and one whose token was lost is made anew (docs/decisions/0008)',
  'believe reads that began before the last write was answered':
    'a list raises a suspicion only, and a GET settles it before anything is written; test/unit/api/account-cache sees it',
  'delete rules before adding new ones':
    'the stand-in keeps the policy from being empty whatever the order is; that no address is admitted meanwhile which both specs refuse is judged by test/unit/kinds/ip-policy-plan',
  'delete only the present object, not those that it replaced':
    'what was replaced bears the mark of its resource still, and goes as a copy; of one with `rawMetadata`, test/cluster/deleted-midway sees it',
  'EqualityOperator in src/managed/plan/replace.ts: === of "const synced = statusOf(cr).conditions?.find(({ ty … pe === \'Synced\')" → !==':
    'looks at Ready in the place of Synced: of a rule, both say the same once the spec is carried out',
  'LogicalOperator in src/managed/rotation/rotation.ts: || of "rotatedAt === undefined || overlapMs === undefined … dAt) + overlapMs" → &&':
    'the two are noted by one patch: a former object with a time to go at comes with the time of the rotation',
  'LogicalOperator in src/managed/rotation/rotation.ts: || of "if (descriptor.rotation?.type !== \'rotation\' ||  … t !== undefined)" → && (2)':
    'counts the age of a token from the creation of its object, which differs only where the clock of the API is wrong; in a simulation it is right',
  'ArithmeticOperator in src/managed/identity/create.ts: + of "const notBefore = firstScan === undefined ? quiet  … imes.scanPauseMs" → -':
    'the second scan is begun by the timer of the first, and that waits out the pause; without that timer it is killed: "drop the pause before the second scan"',
  'BooleanLiteral in src/api/client.ts: true of "size.end(true)" → false':
    'counts what lists take in memory, which test/faults/hostile-api looks at',
  'ArrayDeclaration in src/managed/outputs/token.ts: [...keysWritten(secret), place.key] → []':
    'the note of a reserved key counts only where a spec chooses another Secret between the reservation and the answer, and the first one holds keys of others',
  'OptionalChaining in src/api/failure.ts: ?. of "const operationId = answer.operationId ?? operatio … or?.operationId)" → .':
    'the error that it throws is taken for one of the network, which is as indefinite as the answer that it was made for',
}
