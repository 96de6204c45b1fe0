-- The requests of a load: paths of a template with a number drawn from 1 to a maximum, each from a different client, so that no rate
-- limit applies. Prints the result as one line of JSON.
--   wrk ... -s load.lua <origin> -- <template> <maximum> [<accepted encoding>]
local template, maximum, encoding

function init(args)
  template = args[1]
  maximum = tonumber(args[2])
  encoding = args[3]
end

function request()
  local client = string.format('10.%d.%d.%d', math.random(0, 255), math.random(0, 255), math.random(0, 255))
  return wrk.format('GET', string.format(template, math.random(1, maximum)), { ['x-forwarded-for'] = client, ['accept-encoding'] = encoding })
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('{"requests":%d,"us":%d,"refused":%d,"broken":%d,"p99us":%d}\n', summary.requests, summary.duration,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(99)))
end
