package endpoint

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
)

// keys describes the keys of this kind.
var keys = config.Keys{
	reflect.TypeFor[body](): {
		"preset": {Text: "One of the suites that `accelgate bench run --list` names. Its keys are defaults of all other keys."},
		"suite_version": {
			Absent: "1.0.0",
			Text:   "Version of the requests. Raise it when they change; older numbers are then not compared with newer ones.",
		},
		"description": {Text: "What the suite measures, as `accelgate bench run --list` shows it of a preset."},
		"model":       {Text: "The model, as requests name it. If absent, the first that the server lists."},
		"mix": {
			Text: "Models or LoRA adapters that requests name, each with its weight, such as `{base: 3, lora-a: 1}`. If absent, `model`.",
		},
		"engine":       {Text: "What the engine is. If absent, what the server reports of itself."},
		"quantization": {Text: "The model's quantization, as you declare it."},
		"base_url": {
			Text: "Root of a server that runs; a trailing `/v1` is fine. It must list its models. Credentials in it are refused.",
		},
		"api_key_env": {
			Text: "Name of the variable that holds the key. The key is sent as a bearer token, is taken out of everything that is written, " +
				"and is not handed to a `server` unless its `env` does.",
		},
		"server": {
			Text: "Server that is started for each measurement in place of `base_url`, and ended afterwards with all that it started. " +
				"If both are absent, the embedded engine is measured.",
		},
		"connection": {Text: "How a server with `base_url` is reached."},
		"request":    {Text: "Options of the requests."},
		"dataset":    {Text: "Prompts, see [Datasets](endpoints.md#datasets)."},
		"load":       {Text: "When requests are sent, and how many, see [Loads](endpoints.md#loads)."},
		"search": {
			Text: "Finds the highest load that holds limits, in place of the loads of `load`, see [Search](endpoints.md#search).",
		},
		"expect":   {Text: "What an answer must be to count."},
		"timeouts": {Text: "Limits of the time of a request, each up to 24h."},
		"slo": {
			Text: "Limits of a request that counts as good. A plain value stands for the template. Durations replace those of the template.",
		},
		"min_ok_rate": {
			Absent: 0.95,
			Text:   "Share of requests that must be answered. Below it the cell fails, with the numbers kept. It also fails if the server went away, or if more requests were cut than answered.",
		},
		"client_delay": {Absent: "2ms", Text: "How late the load generator may be, see [Results](endpoints.md#results)."},
		"gate": {
			Text: "Metrics that are gated in place of the default ones. `accelgate bench run --metrics` lists all with their definitions.",
		},
		"gpus": {
			Text: "NVIDIA GPUs, by index or UUID, whose energy counts. If absent, the cell's device, and on a host without accelerators the CPU.",
		},
		"price_per_hour": {Text: "Price of the host in USD, for `cost_usd_per_million_tokens`."},
		"repeats":        {Absent: 1, Text: "Measurements of each load, up to 1000."},
	},
	reflect.TypeFor[server](): {
		"command":       {Text: "Program and its arguments, with `{port}`, which must occur, `{model}` and `{accelgate}`."},
		"env":           {Text: "Variables of the server."},
		"start_timeout": {Absent: "10m", Text: "Bound for the start. The server is ready when `/health`, or else `/v1/models`, answers."},
	},
	reflect.TypeFor[connection](): {
		"ca_file": {Text: "File of certificates, as PEM, that the server's certificate must lead to, in place of the system's."},
		"proxy":   {Text: "URL of a proxy, such as `http://proxy:3128`. No proxy is taken from the environment."},
		"socket":  {Text: "Path of a Unix socket that the server listens on. `base_url` is then `http://localhost`."},
		"h2c": {
			Absent: false,
			Text:   "`true` sends HTTP/2 without TLS from the first byte on. The server must expect it, and many requests share a connection.",
		},
		"query":          {Text: "Parameters of each request's URL, such as `api-version` on Azure."},
		"headers":        {Text: "Headers of each request. Keys belong into `api_key_env`."},
		"api_key_header": {Text: "Header that carries the key, such as `api-key` on Azure. If absent, the key is a bearer token."},
	},
	reflect.TypeFor[request](): {
		"api": {
			Absent: "chat",
			Text:   "`chat`, `completions`, `embeddings`, `rerank` or `transcription`, see [Requests](endpoints.md#requests).",
		},
		"inputs":      {Absent: 1, Text: "Texts of a request for `embeddings`, or documents of one to `rerank`, up to 2048."},
		"files":       {Text: "Images of chats (PNG, JPEG, WebP, GIF), or recordings of `transcription`: each request sends one, in turn."},
		"max_tokens":  {Absent: 128, Text: "Most tokens of an answer, 1 to 1048576. `output` of the data set replaces it."},
		"temperature": {Absent: 0, Text: "Temperature, 0 to 2."},
		"ignore_eos":  {Absent: false, Text: "`true` makes all answers equally long, on servers that support it."},
		"keepalive":   {Absent: true, Text: "Whether a connection serves further requests."},
		"system":      {Text: "System prompt, with `api: chat`."},
		"json_schema": {
			Text: "File of a JSON Schema that the server is asked to keep (`response_format`). An answer that does not is `invalid_output` and counts as not answered, see [Structured output](endpoints.md#structured-output).",
		},
		"stop":  {Text: "Texts that end an answer."},
		"extra": {Text: "Further members of the request, each as JSON."},
	},
	reflect.TypeFor[searching](): {
		"metric": {Text: "`rate` (requests a second) or `concurrency` (requests at once)."},
		"slo": {
			Text: "Limits that must hold, by metric: most milliseconds of a latency such as `ttft_p95_ms`, and least share of answered requests (`ok_rate: 99%`, if absent `min_ok_rate`).",
		},
		"min":       {Absent: 1, Text: "Load to begin with. The cell fails if it does not hold."},
		"max":       {Absent: 1024, Text: "Highest load to try."},
		"precision": {Absent: 0.02, Text: "Relative distance of the end points at which the search ends, 0.001 to 0.5."},
		"repeats":   {Absent: 3, Text: "Probes of each end point, an odd number up to 99. The majority counts."},
		"budget":    {Absent: "15m", Text: "Time after which no further probe begins."},
	},
	reflect.TypeFor[expect](): {
		"prompt_tokens": {
			Text: "Least tokens that the server must count in each prompt: a number, or `words`, because a word is a token at least. An answer with fewer is " +
				"`prompt_truncated`. If absent, fewer tokens than words are a warning.",
		},
	},
	reflect.TypeFor[timeouts](): {
		"first": {Absent: "60s", Text: "To the first token."},
		"idle":  {Absent: "30s", Text: "From line to line."},
		"total": {Absent: "120s", Text: "Of the whole request."},
	},
	reflect.TypeFor[slo](): {
		"template": {
			Text: "`llm.standard`: 200 ms to the first token, 50 ms per further token and 3 s for the request, on an H100. `llm.relaxed`: 1 s, none and 10 s. " +
				"Other hardware classes multiply them.",
		},
		"hardware": {
			Text: "Class of the hardware, such as `a100`. If absent, by a word in the accelerator's model; `cpu` on a host without accelerators.",
		},
		"ttft": {Text: "Limit of the time to the first token."},
		"tpot": {Text: "Limit of the time per further token."},
		"e2e":  {Text: "Limit of the time of the whole request."},
	},
	reflect.TypeFor[prompts](): {
		"kind": {
			Absent: "builtin",
			Text: "Where prompts come from: `builtin` (texts that ship with accelgate), `random` (words without meaning), `lognormal` (the same with lognormal lengths), `shared-prefix` " +
				"(`groups` of prompts that share their first `prefix` words, each followed by `input` words of its own), `jsonl`, `sharegpt` or `trace` (files).",
		},
		"set": {
			Absent: "chat",
			Text:   "Of `builtin`: `chat` (10 short questions), `code` (10 beginnings of files), `rag` (a question about 2,048 words) or `long-context` (8,192 words).",
		},
		"path": {
			Text: "File of `jsonl`, `sharegpt` and `trace`, see [Datasets](endpoints.md#datasets). A file that is missing is an error; nothing is ever put in its place.",
		},
		"n": {
			Text: "Number of prompts; of a file the first that hold one. If absent, all of a file or of the sets `chat` and `code`, 16 for each group of `shared-prefix`, and otherwise 200. " +
				"A source that holds fewer is an error.",
		},
		"seed": {Absent: 42, Text: "Decides every word and length. It is not negative."},
		"input": {
			Text: "Length of generated prompts in words, of about one token each: all of a random one, what follows the prefix of `shared-prefix`, the document of `rag` and `long-context`. " +
				"The server's usage, and so the report, has the real number of tokens of a prompt.",
		},
		"length_unit": {
			Absent: "words",
			Text:   "What `input` and `prefix` count: `words`, or `tokens` by the server's own `/tokenize` (vLLM, SGLang, llama.cpp), which is asked before a load. A chat template comes on top.",
		},
		"output": {Text: "Length of answers in tokens; of `jsonl` where a line has none. If absent, `request.max_tokens`."},
		"groups": {
			Text: "Prefixes of `shared-prefix`, or documents of `rag` and `long-context`, of which each prompt has its own if absent. A prefix returns after all others.",
		},
		"prefix": {Text: "Words that a group of `shared-prefix` shares."},
		"block":  {Absent: 512, Text: "Tokens that each of a trace's `hash_ids` stands for."},
		"format": {
			Absent: "mooncake",
			Text:   "Form of a trace: `mooncake` (JSON on each line), `azure` or `burstgpt` (tables), see [Datasets](endpoints.md#datasets).",
		},
		"time_unit":      {Text: "Unit of a trace's `timestamp`: `ms` or `s`. Required with `format: mooncake`."},
		"answer_lengths": {Absent: false, Text: "`true` asks `sharegpt` for as many tokens as the answer has words."},
		"conversation": {
			Text: "Makes each prompt the first question of a conversation, whose later ones follow the server's own answers, see [Conversations](endpoints.md#conversations).",
		},
		"cache_policy": {
			Absent: "unique",
			Text: "What a prefix cache may find: `unique` begins every prompt with words of its own, `shared-prefix` puts them behind what the data set means to be shared, " +
				"`as-is` sends prompts unchanged, and again when they are used up, which the run records. A server that was there before gets other words each time.",
		},
	},
	reflect.TypeFor[dataset.Conversation](): {
		"turns": {Text: "Questions of a conversation, 1 to 1000. Of `sharegpt` these at most, and if absent all that were recorded."},
		"input": {Text: "Words of each question but the first. Those of `sharegpt` are recorded."},
		"think_ms": {
			Text: "Time between an answer and the next question of its conversation, in milliseconds up to an hour. If absent, none.",
		},
	},
	reflect.TypeFor[dataset.Lengths](): {
		"dist":  {Text: "`fixed` (`value`), `uniform` (`min`, `max`) or `lognormal` (`p50`, `sigma`, `min`, `max`)."},
		"value": {Text: "The length, of `fixed`."},
		"min":   {Text: "Smallest length, of `uniform` and `lognormal`, where 1 if absent."},
		"max":   {Text: "Largest length, of `uniform` and `lognormal`, where the most that is allowed if absent."},
		"p50":   {Text: "Median of `lognormal`, before it is truncated to `min` and `max`."},
		"sigma": {
			Text: "Standard deviation of the logarithm of `lognormal`, above 0 and at most 5; that of ShareGPT's lengths is about 1.",
		},
	},
	reflect.TypeFor[loading](): {
		"mode": {
			Absent: "closed",
			Text: "`closed` (each slot sends when its last request has ended), or an open mode: `constant` (equal gaps), `gamma` (random arrivals), `burst` (groups), " +
				"`trace` (the times of `dataset.kind: trace`).",
		},
		"concurrency": {Text: "Slots of `closed`: a cell for each number."},
		"rate":        {Text: "Requests a second of `constant`, `gamma` and `burst`: a cell for each number."},
		"rate_end":    {Text: "Rate at the end of `duration`, which the rate approaches from `rate` on. The warm-up has the first rate."},
		"rate_curve": {
			Absent: "linear",
			Text:   "How the rate approaches `rate_end`: `linear` (by equal differences) or `exponential` (by equal factors).",
		},
		"scale": {
			Text: "Speeds of a trace: a cell for each number. 2 sends at twice the recorded rate, 0.5 at half of it. If absent, 1.",
		},
		"burstiness":    {Absent: 1, Text: "Shape of the gaps of `gamma`: 1 is Poisson, less comes in clusters."},
		"burst":         {Text: "Requests of one group of `burst`."},
		"ramp":          {Text: "Time over which slots start, so that they do not go in step. If absent, `auto_ramp` counts."},
		"auto_ramp":     {Absent: true, Text: "Whether slots start over one service time."},
		"max_in_flight": {Text: "Bound for requests at once in open modes. One that waits is late by the schedule."},
		"clients": {
			Absent: 1,
			Text:   "Processes of accelgate on this host that send the load together, each its part, up to 256. See [More than one client](endpoints.md#more-than-one-client).",
		},
		"duration": {Text: "Time that is measured. `duration` or `requests` is given, or both: then whichever comes first counts."},
		"requests": {Text: "Requests that are measured."},
		"warmup":   {Text: "What is sent before it is measured: both, the requests and the time."},
		"drain": {
			Absent: "30s",
			Text:   "Time that requests of the window may go on after it, under unchanged load. Then they are cancelled and counted.",
		},
	},
	reflect.TypeFor[warmup](): {
		"requests": {Text: "Requests. If absent, the larger of 3 and twice the slots, and none of a trace."},
		"duration": {Absent: "2s", Text: "Time."},
	},
}
