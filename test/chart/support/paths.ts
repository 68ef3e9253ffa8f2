import { fileURLToPath } from 'node:url'

/** The root of the project. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The chart. */
export const CHART = fileURLToPath(new URL('../../../charts/culvert', import.meta.url))

/** The chart of a ClusterAccount. */
export const ACCOUNT_CHART = fileURLToPath(new URL('../../../charts/culvert-account', import.meta.url))
