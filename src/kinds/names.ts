import { GROUP, VERSION } from '../managed/names.ts'

/** What the definitions of all kinds share. `kubectl get culvert` lists every kind through the category. */
export const common = { group: GROUP, version: VERSION, categories: ['culvert'] } as const
