import { toolPath } from '../chart/support/tools.ts'

/** Builds the Helm that renders the chart if this machine has not done so yet: longer than a test may take. */
export default async function setup(): Promise<void> {
  await toolPath('helm4', (message) => console.error(message))
}
