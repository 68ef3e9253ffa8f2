import type { KubeObject, ResourceType } from '../../../kube/types.ts'
import { GROUP } from '../../../managed/names.ts'
import type { Finding } from '../finding.ts'
import { type Patient, unlessForbidden } from '../patient.ts'

function configurationType(kind: string): ResourceType {
  const plural = `${kind.toLowerCase()}s`
  return { group: 'admissionregistration.k8s.io', version: 'v1', plural, kind, namespaced: false }
}

const CONFIGURATIONS = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map(configurationType)

const services: ResourceType = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true }

interface Webhook {
  readonly name: string
  readonly failurePolicy?: string
  readonly clientConfig?: { readonly service?: { readonly namespace: string; readonly name: string } }
  readonly rules?: readonly { readonly apiGroups?: readonly string[] }[]
}

interface Configuration extends KubeObject {
  readonly webhooks?: readonly Webhook[]
}

/** Webhooks that every write of our resources has to pass, and that nobody answers. */
export async function checkWebhooks({ cluster: { kube } }: Patient): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const type of CONFIGURATIONS) {
    const configurations = await unlessForbidden('webhooks', `${type.kind}s`, findings, () => {
      return kube.listAll<Configuration>(type, [])
    })
    for (const { metadata, webhooks = [] } of configurations ?? []) {
      for (const { name, clientConfig } of webhooks.filter(isInTheWay)) {
        const service = clientConfig?.service
        if (service === undefined) continue
        const found = await unlessForbidden('webhooks', `${type.kind}/${metadata.name}`, findings, () => {
          return kube.get(services, service)
        })
        if (found !== undefined || findings.some(({ object }) => object === `${type.kind}/${metadata.name}`)) continue
        findings.push({
          severity: 'error',
          check: 'webhooks',
          object: `${type.kind}/${metadata.name}`,
          cause: `${name} has to admit every write of a resource of ${GROUP}, but its Service ${service.namespace}/${service.name} does not exist`,
          remedy: 'Restore the Service, or delete the configuration if its program is gone.',
          command: `kubectl describe ${type.plural}.${type.group}/${metadata.name}`,
        })
      }
    }
  }
  return findings
}

/** Whether the API server refuses writes of our resources while the webhook does not answer. */
function isInTheWay({ failurePolicy = 'Fail', rules = [] }: Webhook): boolean {
  return (
    failurePolicy === 'Fail' && rules.some(({ apiGroups = [] }) => apiGroups.includes(GROUP) || apiGroups.includes('*'))
  )
}
