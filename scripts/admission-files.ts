import { join } from 'node:path'
import type { KindsRegistry } from '../src/managed/kinds-registry.ts'
import { toYaml } from './crds/yaml.ts'
import { accessPolicy } from './permissions/access-policy.ts'
import { authorPolicy } from './permissions/author-policy.ts'
import { operatorPolicy } from './permissions/operator-policy.ts'

/** Folder of the chart's admission policies. */
export const ADMISSION_FOLDER = join('charts', 'culvert', 'files', 'admission')

/** The parts of each admission policy of the chart that are the same in every installation, one file each. */
export function admissionFiles(kinds: KindsRegistry): ReadonlyMap<string, string> {
  const policies = { access: accessPolicy(kinds), authors: authorPolicy(kinds), operator: operatorPolicy(kinds) }
  return new Map(
    Object.entries(policies).map(([name, policy]) => [join(ADMISSION_FOLDER, `${name}.yaml`), toYaml(policy)]),
  )
}
