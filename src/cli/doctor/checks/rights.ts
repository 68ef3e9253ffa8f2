import type { ResourceType } from '../../../kube/types.ts'
import { GROUP } from '../../../managed/names.ts'
import type { Finding } from '../finding.ts'
import type { Patient } from '../patient.ts'

/** May the caller do that? */
const selfSubjectAccessReviews: ResourceType = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
}

/** Rights that commands need beyond those whose lack the other checks report themselves. */
const NEEDED = [
  { verb: 'patch', group: GROUP, resource: '*', needs: 'culvert reconcile, pause, resume and rotate' },
  { verb: 'watch', group: GROUP, resource: '*', needs: '--wait of these' },
  {
    verb: 'list',
    group: 'events.k8s.io',
    resource: 'events',
    needs: 'culvert events, and the attempts shown by culvert why',
  },
] as const

/** Which commands the caller cannot use. */
export async function checkRights({ cluster: { kube, namespace } }: Patient): Promise<readonly Finding[]> {
  const findings = NEEDED.map(async ({ needs, ...attributes }): Promise<readonly Finding[]> => {
    const spec = { resourceAttributes: { ...attributes, namespace } }
    if ((await kube.review(selfSubjectAccessReviews, spec)).allowed === true) return []
    const { verb, resource, group } = attributes
    return [
      {
        severity: 'unchecked',
        check: 'rights',
        object: 'your own rights',
        cause: `you may not ${verb} ${resource === '*' ? 'every resource' : resource} of ${group} in namespace ${namespace}, which is required by ${needs}`,
        command: `kubectl auth can-i ${verb} ${resource === '*' ? `'*.${group}'` : `${resource}.${group}`} -n ${namespace}`,
      },
    ]
  })
  return (await Promise.all(findings)).flat()
}
