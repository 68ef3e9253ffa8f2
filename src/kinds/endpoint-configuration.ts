import { object, text } from '../schema/define.ts'

/** Field of a spec that refers to an endpoint configuration. No kind makes them, so that there is none to name. */
export function endpointConfigurationRef(traffic: string) {
  return object(
    { id: text({ description: 'Id of the endpoint configuration.', minLength: 1, maxLength: 255 }) },
    { description: `An endpoint configuration for ${traffic}, which is not managed here. Default: none.` },
  )
}
