import type { ProgramResult } from '../../../controlplane/run-program.ts'
import type { Rule } from '../../../src/managed/permissions.ts'

/** kubectl as a given user. */
type RunKubectl = (args: readonly string[]) => Promise<ProgramResult>

/**
 * A user's rights in a namespace by `kubectl auth can-i --list`: `verb resource (name)`. @throws Error with kubectl's
 * message
 */
async function rightsOf(kubectl: RunKubectl, namespace: string): Promise<ReadonlySet<string>> {
  const { code, stdout, stderr } = await kubectl(['auth', 'can-i', '--list', '--no-headers', '-n', namespace])
  if (code !== 0) throw new Error(`kubectl auth can-i --list failed: ${stderr}`)
  const rights = stdout.split('\n').flatMap((line) => {
    const [, resource = '', , names = '', verbs = ''] =
      /^(\S*)\s+\[(.*?)\]\s+\[(.*?)\]\s+\[(.*?)\]$/.exec(line.trimEnd()) ?? []
    return resource === '' ? [] : verbs.split(' ').map((verb) => `${verb} ${resource} (${names})`)
  })
  return new Set(rights)
}

/** Rights that one user has and another does not, sorted. */
export async function rightsBeyond(
  mine: RunKubectl,
  theirs: RunKubectl,
  namespace: string,
): Promise<readonly string[]> {
  const everybodys = await rightsOf(theirs, namespace)
  return [...(await rightsOf(mine, namespace))].filter((each) => !everybodys.has(each)).sort(byText)
}

/** The rights in rules, in the words and the order of `rightsBeyond`. */
export function rightsIn(rules: readonly Rule[]): readonly string[] {
  const texts = rules.flatMap(({ apiGroups, resources, resourceNames = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => {
        const [plural, ...subresource] = resource.split('/')
        const full = [group === '' ? plural : `${plural}.${group}`, ...subresource].join('/')
        return verbs.map((verb) => `${verb} ${full} (${resourceNames.join(' ')})`)
      }),
    ),
  )
  return [...new Set(texts)].sort(byText)
}

function byText(left: string, right: string): number {
  return left < right ? -1 : 1
}
