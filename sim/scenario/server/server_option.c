/* From the command lines of vLLM 0.8 to 0.33 (engine/arg_utils.py, entrypoints/.../cli_args.py) and
 * SGLang 0.5 (srt/server_args.py). */
#include "scenario/server/server_option.h"

#include <string.h>

/* HARMLESS changes nothing that is predicted. OTHER may change it, but has no counterpart in a
 * scenario; it is here because its name is near that of a setting. */
enum effect { HARMLESS, OTHER };

static const struct {
    const char *name; /* a final '*' stands for any end */
    enum effect effect;
} options[] = {
    {"admin_api_key", HARMLESS},
    {"aggregate_engine_logging", HARMLESS},
    {"allow_auto_truncate", HARMLESS},
    {"allow_credentials", HARMLESS},
    {"allow_deprecated_quantization", HARMLESS},
    {"allowed_*", HARMLESS},
    {"anthropic_*", HARMLESS},
    {"api_key", HARMLESS},
    {"attention_context_parallel_size", OTHER},
    {"attn_cp_size", OTHER},
    {"base_gpu_id", HARMLESS},
    {"bucket_*", HARMLESS},
    {"chat_template*", HARMLESS},
    {"code_revision", HARMLESS},
    {"cohere_*", HARMLESS},
    {"collect_detailed_traces", HARMLESS},
    {"completion_template", HARMLESS},
    {"config_format", HARMLESS},
    {"cpu_distributed_timeout_seconds", HARMLESS},
    {"crash_dump_folder", HARMLESS},
    {"cudagraph_metrics", HARMLESS},
    {"custom_histogram_buckets", HARMLESS},
    {"data_parallel_address", HARMLESS},
    {"data_parallel_backend", HARMLESS},
    {"data_parallel_hybrid_lb", OTHER},
    {"data_parallel_rank", HARMLESS},
    {"data_parallel_rpc_port", HARMLESS},
    {"data_parallel_size_local", OTHER},
    {"data_parallel_start_rank", HARMLESS},
    {"data_parallel_supervisor_port", HARMLESS},
    {"dc", OTHER},
    {"dcp", OTHER},
    {"dcp_size", OTHER},
    {"debug_*", HARMLESS},
    {"decode_log_interval", HARMLESS},
    {"deepep_dispatcher_output_dtype", OTHER},
    {"default_chat_template_kwargs", HARMLESS},
    {"device_ids", HARMLESS},
    {"disable_access_log_for_endpoints", HARMLESS},
    {"disable_fastapi_docs", HARMLESS},
    {"disable_log_*", HARMLESS},
    {"disable_outlines_disk_cache", HARMLESS},
    {"disable_uvicorn_access_log", HARMLESS},
    {"dist_init_addr", HARMLESS},
    {"dist_timeout", HARMLESS},
    {"distributed_timeout_seconds", HARMLESS},
    {"download_dir", HARMLESS},
    {"dp_supervisor_*", HARMLESS},
    {"dpa", HARMLESS},
    {"dpb", HARMLESS},
    {"dpe", OTHER},
    {"dph", OTHER},
    {"dpl", OTHER},
    {"dpm", OTHER},
    {"dpn", HARMLESS},
    {"dpp", HARMLESS},
    {"dpr", HARMLESS},
    {"dwdp_size", OTHER},
    {"elastic_ep_max_dp_size", OTHER},
    {"enable_auto_tool_choice", HARMLESS},
    {"enable_cache_report", HARMLESS},
    {"enable_dp_attention_local_control_broadcast", OTHER},
    {"enable_force_include_usage", HARMLESS},
    {"enable_hisparse", OTHER},
    {"enable_lean_attention", OTHER},
    {"enable_lmcache", OTHER},
    {"enable_log_*", HARMLESS},
    {"enable_logging_iteration_details", HARMLESS},
    {"enable_metrics*", HARMLESS},
    {"enable_mfu_metrics", HARMLESS},
    {"enable_nan_detection", OTHER},
    {"enable_offline_docs", HARMLESS},
    {"enable_p2p_check", OTHER},
    {"enable_per_request_metrics", HARMLESS},
    {"enable_prefix_mm_cache", OTHER},
    {"enable_prompt_tokens_details", HARMLESS},
    {"enable_request_id_headers", HARMLESS},
    {"enable_request_time_stats_logging", HARMLESS},
    {"enable_scale_out", HARMLESS},
    {"enable_server_load_tracking", HARMLESS},
    {"enable_ssl_refresh", HARMLESS},
    {"enable_tokenizer_info_endpoint", HARMLESS},
    {"enable_trace", OTHER},
    {"exclude_tools_when_tool_choice_none", HARMLESS},
    {"export_metrics_*", HARMLESS},
    {"extra_metric_labels", HARMLESS},
    {"fastapi_root_path", HARMLESS},
    {"file_storage_path", HARMLESS},
    {"fingerprint_*", HARMLESS},
    {"generation_config", HARMLESS},
    {"generation_tokens_buckets", HARMLESS},
    {"gpu_id_step", HARMLESS},
    {"grpc_*", HARMLESS},
    {"h11_*", HARMLESS},
    {"hf_chat_template_name", HARMLESS},
    {"hf_config_path", HARMLESS},
    {"hf_token", HARMLESS},
    {"host", HARMLESS},
    {"http2_*", HARMLESS},
    {"ignore_patterns", HARMLESS},
    {"jit_monitor_*", HARMLESS},
    {"kv_cache_dtype_skip_layers", OTHER},
    {"kv_cache_metrics*", HARMLESS},
    {"load_format", HARMLESS},
    {"log_*", HARMLESS},
    {"logging_config", HARMLESS},
    {"logprobs_mode", HARMLESS},
    {"lora_dtype", OTHER},
    {"mamba_block_size", OTHER},
    {"mamba_cache_dtype", OTHER},
    {"mamba_ssm_cache_dtype", OTHER},
    {"mamba_ssm_dtype", OTHER},
    {"master_addr", HARMLESS},
    {"master_port", HARMLESS},
    {"max_ep_size", OTHER},
    {"max_log_len", HARMLESS},
    {"max_logprobs", HARMLESS},
    {"max_num_active_seqs", OTHER},
    {"max_num_queued_*", OTHER},
    {"max_num_scheduled_tokens", OTHER},
    {"max_parallel_loading_workers", HARMLESS},
    {"max_prefill_tokens", OTHER},
    {"max_queued_requests", OTHER},
    {"middleware", HARMLESS},
    {"mm_encoder_attn_dtype", OTHER},
    {"model_checksum", HARMLESS},
    {"model_class_overrides", OTHER},
    {"model_config_parser", HARMLESS},
    {"model_impl", OTHER},
    {"model_loader_extra_config", HARMLESS},
    {"moe_data_parallel_size", OTHER},
    {"moe_dense_tp_size", OTHER},
    {"moe_dp_size", OTHER},
    {"nccl_init_addr", HARMLESS},
    {"nccl_port", HARMLESS},
    {"node_rank", HARMLESS},
    {"otlp_*", HARMLESS},
    {"override_generation_config", HARMLESS},
    {"page_size", OTHER},
    {"pcp", OTHER},
    {"port", HARMLESS},
    {"pre_warm_nccl", HARMLESS},
    {"preferred_sampling_params", HARMLESS},
    {"prefill_kv_cache_dequant_dtype", OTHER},
    {"prompt_tokens_buckets", HARMLESS},
    {"pt_load_map_location", HARMLESS},
    {"qsa_indexer_dtype", OTHER},
    {"quantization_config", OTHER},
    {"quantization_param_path", OTHER},
    {"r", HARMLESS},
    {"random_seed", HARMLESS},
    {"ray_workers_use_nsight", HARMLESS},
    {"reasoning_effort_map", HARMLESS},
    {"reasoning_parser*", HARMLESS},
    {"response_role", HARMLESS},
    {"return_tokens_as_token_ids", HARMLESS},
    {"revision", HARMLESS},
    {"root_path", HARMLESS},
    {"safetensors_*", HARMLESS},
    {"sampling_defaults", HARMLESS},
    {"seed", HARMLESS},
    {"served_model_name", HARMLESS},
    {"shared_experts_tp_size", OTHER},
    {"show_hidden_metrics_for_version", HARMLESS},
    {"show_time_cost", HARMLESS},
    {"shutdown_timeout", HARMLESS},
    {"skip_server_warmup", HARMLESS},
    {"smg_*", HARMLESS},
    {"soft_watchdog_timeout", HARMLESS},
    {"spec_*", OTHER},
    {"speculative_*", OTHER},
    {"sse_keep_alive_interval", HARMLESS},
    {"ssl_*", HARMLESS},
    {"stream_response_default_include_usage", HARMLESS},
    {"tokenizer", HARMLESS},
    {"tokenizer_metrics_*", HARMLESS},
    {"tokenizer_mode", HARMLESS},
    {"tokenizer_path", HARMLESS},
    {"tokenizer_revision", HARMLESS},
    {"tool_call_parser", HARMLESS},
    {"tool_parser_plugin", HARMLESS},
    {"tool_server", HARMLESS},
    {"tool_strict_level", HARMLESS},
    {"trust_*", HARMLESS},
    {"ubatch_size", OTHER},
    {"uds", HARMLESS},
    {"use_tqdm_on_load", HARMLESS},
    {"uvicorn_*", HARMLESS},
    {"warmups", HARMLESS},
    {"watchdog_timeout", HARMLESS},
    {"weight_loader_*", HARMLESS},
    {"weight_version", HARMLESS},
};
enum { OPTIONS = sizeof options / sizeof *options };

static bool server_option_matches(const char *row, const char *name)
{
    size_t length = strcspn(row, "*");
    return strncmp(row, name, length) == 0 && (row[length] == '*' || name[length] == '\0');
}

/* The row of an option; -1: none. */
static int server_option_find(const char *name)
{
    name += strncmp(name, "no_", 3) == 0 ? 3 : 0;
    for (int i = 0; i < OPTIONS; i++) {
        if (server_option_matches(options[i].name, name)) {
            return i;
        }
    }
    return -1;
}

bool server_option_harmless(const char *name)
{
    int row = server_option_find(name);
    return row >= 0 && options[row].effect == HARMLESS;
}

bool server_option_known(const char *name)
{
    return server_option_find(name) >= 0;
}

const char *server_option_row(size_t index)
{
    return index < OPTIONS ? options[index].name : NULL;
}
