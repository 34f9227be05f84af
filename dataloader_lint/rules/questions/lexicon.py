"""The concepts that questions about data loading are made of, with the words that people use for them.

Words stand for themselves, `*` for any ending, `_` for a space, a hyphen, an underscore or nothing. Words of languages
that put no spaces between words are found anywhere. `/.../` is a regular expression, in the syntax that Python and
JavaScript share. Accents and case do not count.
"""

from __future__ import annotations

CONCEPTS: dict[str, str] = {
    # What the question is about.
    "loader": """
        data_load* dataload* loader loaders dataloder* datamodule* data_module* webloader data_pipeline*
        input_pipeline* data_time load_data loading_data load_the_data loading_the_data load_batch* loading_batch*
        load_a_batch fetch_data fetching_data data_fetch* 数据加载 加载数据 数据读取 读取数据 读数据 数据读
        データローダ データの読み込み データロード 데이터로더 데이터_로더 로더 carga_de_datos cargador datenlad*
        chargement chargeur загрузчик* загрузк* даталоадер* carregament* carregador*
    """,
    "worker": """
        worker* num_wor* numwor* n_workers nworkers num_proc* multi_process* multiprocess* multi_thread* subprocess*
        sub_process* child_process* prefetch_worker* workder* parallel_processes 多线程 多进程 子进程 线程数 进程
        ワーカ マルチプロセス 워커 멀티프로세스 arbeiter* arbeitsprozess* trabajador* subproceso* processus workeur*
        воркер* процесс* trabalhador*
    """,
    "many_workers": r"""
        /num_?\w{0,2}wor?k\w* ?(?:[>=:] ?|(?:to|is|set|larger|greater|bigger|more|than) )+(?:[1-9]|one)/
        /wor?k\w* ?(?:[>=] ?|(?:is|are|larger|greater|bigger|more|than) )+[01]\b/ multiple_workers
        more_workers several_workers many_workers increase_num_wor* increase_the_num_wor* with_workers
        increasing_num_wor* increase_workers parallel_workers different_workers workers_gt_0 varios_workers
        mehrere_worker* plusieurs_worker* multi_worker* 多线程 多进程 多个worker ワーカーを増 workersを増
    """,
    "num_workers": "num_worker* numworker* n_workers",
    "no_workers": r"""
        /num_?\w{0,2}wor?k\w* ?(?:[=:] ?|(?:to|is|set|equal) )*(?:0|zero)\b/ /(?:0|zero|no|without) workers?\b/
        single_process without_workers main_process_only workers_0 workers_to_0 sin_workers ohne_worker* 改成0 设为0
        改为0
    """,
    "dataset": """
        dataset* data_set* dataste* imagefolder getitem 数据集 データセット 데이터셋 conjunto_de_datos datensatz*
        датасет* jeu_de_donnees
    """,
    "iterable": """
        iterable* iterabledataset* webdataset* wds streaming_dataset streaming_data stream_dataset streamingdataset*
        可迭代 反復可能
    """,
    "shard": """
        shard* sharding autoshard* split_by_worker split_by_node splitting_by_node nodesplitter partition* 分片
        シャード
    """,
    "weighted": "weightedrandom* weighted_random* weighted_sampl* /weightedrandomsampler/ oversampl* over_sampl*",
    "sampler": "/sampler/ 采样器 サンプラ 샘플러 семплер* muestreador*",
    "distributed": r"""
        ddp /distribute[ds]?\b/ /distributed(?=[\s_-]?sampler)/ dist multi_gpu* multigpu* rank ranks torchrun
        deepspeed fsdp world_size multi_node data_parallel dataparallel accelerate gpus horovod each_gpu per_gpu 多卡
        分布式 分散 マルチgpu 複数gpu 멀티_gpu 분산 varias_gpus mehrere_gpus mehreren_gpus
    """,
    "gpu": "gpu* cuda device vram 显卡 그래픽카드 графическ* видеокарт* grafikkarte*",
    "vram": r"""
        gpu_mem* cuda_mem* gpu_ram video_memory vram cuda_out_of_memory cuda_oom gpu_oom gpu_out_of_memory
        device_memory memory_on_gpu memory_on_the_gpu memory_of_the_gpu memory_of_gpu gpus_memory cudamemory
        cuda_runtime_out_of_memory cuda_context* /out of (?:gpu|cuda|device) memory/ /(?:gpu|cuda)\b.{0,20}\boom\b/
        /oom\b.{0,16}\b(?:gpu|cuda)/ 显存 gpuメモリ gpu_메모리 memoria_de_la_gpu memoria_gpu grafikspeicher
        gpu_speicher memoire_gpu видеопамят*
    """,
    "memory": """
        mem memory ram rss memorys memoryleak system_memory cpu_memory host_memory uss pss swap 内存 メモリ 메모리
        memoria arbeitsspeicher* speicher* memoire memoria_ram памят* озу
    """,
    "cpu": "cpu cpus cores core processor 处理器",
    "shared_memory": r"""
        shared_mem* sharedmem* shm /\/dev\/shm/ shm_size use_shared_memory /shared memery/ 共享内存 共有メモリ
        공유_메모리 memoria_compartida gemeinsamer_speicher memoire_partagee общая_память разделяем*_памят*
        memoria_compartilhada
    """,
    "files": """
        file_descriptor* open_files file_handle* fd fds ulimit descriptor* handles nofile open_file_limit
        open_file_descr* 打开的文件 文件描述符 ファイルディスクリプタ archivos_abiertos offene_dateien
        fichiers_ouverts файлов_открыт*
    """,
    "ancdata": "ancdata bad_file_descriptor",
    "storage": """
        h5 hdf5 h5py lmdb zip zipfile tar tarfile sqlite database netcdf zarr tfrecord* leveldb rocksdb odps
        file_object opened_file sql connection connections session boto3 s3 ssl sslerror eof seek mmap memmap
    """,
    "table": """
        csv parquet dataframe* pandas table tables large_file* big_file* huge_file* feather arrow 大文件 表格
    """,
    "image": "image* img images picture* jpeg* png* jpg imread pil 图片 图像 画像 이미지 imagen* bild* изображен*",
    "sample": """
        sample* item items element* example* record* datapoint* data_point* row rows entry entries 样本 サンプル 샘플
        muestra* stichprobe* echantillon* пример* amostra* 数据 データ data 데이터 datos daten donnees данны* dados
    """,
    "batch": "batch* minibatch* iteration* step steps iter iters 批次 批量 バッチ 배치 lote* батч*",
    "epoch": "epoch* epocas epoche* epoques epoch之 轮 エポック 에폭 에포크 epoca* эпох*",
    "training": """
        train* trainer* run running 训练 学習 学习 학습 entrenamiento entrenar treinamento entrainement обучен*
    """,
    "evaluation": """
        eval* valid* val test tests testing inference metric* 验证 测试 検証 평가 evaluacion validierung
    """,
    "first": """
        first 1st initial beginning start_of begin starts beginning_of at_start start first_epoch 第一 开始 最初 첫
        primer* erste* premier* перв* primeir* inicio debut
    """,
    "each": """
        each every all_epochs per between restart* reset* again anew 每 毎 各 毎回 매 entre cada jede* zwischen chaque
        кажд* entre_epocas
    """,
    "later": "second subsequent later 2nd following next afterwards 之后 第二 後 이후 despues spater*",
    "windows": """
        windows win10 win11 mac macos osx m1 m2 apple_silicon spawn spawned forkserver 윈도우 ウィンドウズ darwin
    """,
    "fork": "fork forked forking fork_safe* after_fork before_fork",
    "notebook": "jupyter notebook* ipython colab ipynb 笔记本 ノートブック 주피터",
    "mps": "mps metal apple_gpu apple_silicon",
    "linux": "linux ubuntu",
    "py314": r"py314 /python ?3\.14\b/ python_314",
    "container": """
        list lists dict dicts dictionary dictionaries list_of* liste listen lista listas liste 列表 字典 リスト 리스트
    """,
    "path": "path paths filename* file_name* pfade rutas 路径 パス",
    "worker_init_fn": "worker_init_fn worker_init",
    "collate_fn": "collate_fn",
    "drop_last": "drop_last",
    "context": "multiprocessing_context mp_context",
    # What is asked about it.
    "what": r"""
        what_does what_do what_is whats what_means what_it_means meaning means explain* purpose used_for how_does
        understand* good_for was_macht was_ist was_bedeutet que_hace que_es que_significa 什么意思 有什么用 作用 とは
        /what (?:\w+ ){1,2}(?:does?|means?)\b/
    """,
    "good": "good best optimal sensible recommended reasonable right_number",
    "noqa": r"""
        noqa false_positive* per_file_ignores
        /\b(?:silenc|suppress|ignor|disabl|mut|hid|skip)(?:e|es|ed|ing)? (?:\w+ ){0,3}(?:finding|rule|dl\d|lint)\w*/
        /\b(?:turn|switch)(?:ing)? off (?:\w+ ){0,3}(?:finding|rule|dl\d|lint)\w*/
    """,
    # What is wrong with it.
    "grow": """
        grow* increas* rise rises rising climb* leak* keeps_going_up going_up goes_up explod* explosion accumulat*
        immer_mehr immer_groesser immer_größer ballooning balloon*
        swell* inflat* blow* fills fill_up fills_up fill used_up eats eating consum* exhaust*
        never_freed not_released not_free* not_release* more_and_more run_out_of runs_out_of running_out_of ran_out_of
        too_much memory_loss keeps_decreasing shrink* steadily continuously over_time creep* not_enough insufficient
        surpass* exceed* 增长 增大 增加 变大 涨 泄漏 泄露 上升 爆 溢出 不足 不够 累积 不释放 没有释放 一直涨 用完
        占满内存 増え 増加 リーク 爆発 足りな 증가 누수 부족 늘어 crece* aument* fuga* wachs* voller steigt leck*
        lauft_voll augment* fuite* растет расте* утечк* увелич* vazamento* cresce* voll
    """,
    "leak": "leak* memoryleak 泄漏 泄露 リーク 누수 fuga* leck* fuite* утечк* vazamento*",
    "times": r"""
        /[2-9]\d?\s?x\b/ /x\s?[2-9]\b/ /\bx num_wor/ multipl* multiplied times_the copies duplicated_memory double*
        twice per_worker each_worker every_worker 倍
    """,
    "kill": """
        kill* oom_kill* sigkill out_of_memory_kill* oomkill* terminated_by 被杀 杀死 杀掉 强制 強制終了 죽 killed
        matar matado beendet getotet tue убит* muere murio morre
    """,
    "crash": """
        crash* die dies died dying exit exits exited abort* segfault* segmentation core_dump* terminat* shutdown
        shut_down fail fails failed failing error errors unstable not_work* doesnt_work dont_work does_not_work
        cant_work cannot_work broken_pipe* do_not_work bug bugs issue problem problems exception* raises raise raised
        wrong not_stable breaks 崩溃 报错 出错 错误 异常 挂掉 退出 闪退 稳定 不能用 クラッシュ エラー 落ち 오류 에러
        종료 falla* error* absturz* sturzt fehler* plante erreur* падает ошибк* вылет* falha* erro trava
    """,
    "exit": """
        exit* die dies died dying crash* abort* shutdown unexpect* randomly_crash* 崩溃 退出 挂掉 クラッシュ 落ち 종료
        muere* sturzt absturz* plante вылет* падает
    """,
    "hang": """
        hang* hung stuck freez* froze frozen deadlock* dead_lock* block blocks blocked stall* stagnat* halt*
        unresponsive never_end* never_finish* never_return* never_start* does_not_start doesnt_start stop_running
        stops_running stops_responding stopped_responding stops_working refuses_to not_respond* no_response
        not_progress* infinite_loop wait_forever waits_forever waiting_forever looks_stopped seems_stopped get_stuck
        gets_stuck never_ends does_not_load doesnt_load not_load forever 卡住 卡死 死锁 停住 不动 挂起 没反应 无响应
        停滞 フリーズ 固まる 固まっ 止まる 止まっ デッドロック ハング 멈춤 멈춰 멈추 멈춥 교착 정지 colgad* cuelga*
        congela* bloquea* hangt hangt_sich eingefroren bleibt_stehen bloque* fige* gele завис* виснет trava* travad*
        travando congel*
    """,
    "pause": r"""
        lag lagging lags pause* stutter* hiccup* periodic* intermittent* temporar* every_few every_n every_nth
        batches_at_a_time batches_run_through in_bursts burst* evenly unevenly
        then_waits then_wait then_pauses then_stops
        /every (?:\w+ )?(?:n|nth|\d+)(?:th|st|nd)? (?:batch|step|iter)\w*/
        /for (?:\w+ )?\d+ ?(?:s|sec|seconds|min|minutes)\b/ /every (?:\w+ )?(?:batch|step|iter)\w*/ 卡顿 一顿一顿
        周期性 停顿
    """,
    "slow": r"""
        slow* lag lagging long long_time longer takes_too_long takes_long bottleneck* speed speeds speed_up speedup
        fast faster performance throughput latency delay* wait* overhead inefficien* time_consuming
        /\b(?:increas\w*|more|long\w*|extra) (?:\w+ )?time/ hours minutes pause* pausa idle takes_forever
        poor_performance costs_time blocking not_faster no_faster no_speedup low_speed 慢 耗时 等待 很久 速度 加速
        提速 瓶颈 久 遅 時間がか 高速 待ち 느리 느려 느립 속도 병목 오래 lento* lenta lentitud pausa* langsam* dauert
        wartet wartezeit lent lente lents lenteur медлен* тормоз* долго devagar lentidao
    """,
    "slower": r"""
        slower slow_down slows_down slowdown /\bslow(?:s|ed|ing)? (?:\w+ ){1,3}down\b/
        slowed slowing more_slow not_faster gets_slow get_slow becomes_slow worse
        no_speedup 更慢 变慢 越来越慢 还慢 慢于 遅くなる 遅くなっ 느려 mas_lento langsamer plus_lent медленнее
        mais_lento
    """,
    "ever_slower": r"""
        /\b(?:slower and slower|longer and longer|increasingly slow\w*|more and more time)/
        /\b(?:slower|longer|more time) (?:to \w+ )?(?:\w+ )?(?:each|every) (?:\w+ )?(?:epoch|step|batch)\b(?! than)/
    """,
    "low": r"""
        /\b(?:sits?|stays?|stuck|hovers?|remains?|is|only|just|around) (?:at |only |around |about )*[1-9]\d? ?%/
        low lower drop* fluctuat* oscillat* unstable unsteady not_stable spik* poor zero /\b0 ?%/
        /(?:becomes?|at|to) 0\b/ idle idling starv* underutili* under_utili* up_and_down jumps jump 0_percent half
        not_full* improve increase_gpu not_used unused only_\d+ /\d+ ?%? ?(?:to|-|->|~|and) ?\d+ ?%/ 低 不高 波动
        上不去 不稳定 很低 忽高忽低 遊んで 低い 낮 놀고 baja* bajo* niedrig* schwank* faible* низк* простаив* baixa*
        ocios*
    """,
    "use": """
        util* utiliz* utilis* usage use used useage gpu_load load_of_the_gpu occup* 利用率 占用 使用率 利用 使用
        사용률 사용 uso utilizacion auslastung utilisation загруз* использован* utilizacao
    """,
    "wait": """
        wait* idle starv* 等待 等数据 待ち 待って 遊んで 기다 espera* wartet attend* ждет простаив* blocks_the_host
    """,
    "random": """
        random* rng seed* seeding np_random numpy_random augment* crop* flip* shuffl* stochastic* variety variaty
        diversity transform transforms rotat* jitter noise 随机 随机数 增强 种子 ランダム 乱数 拡張 시드 랜덤 증강
        aleatori* zufall* zufallig* aleatoire* случайн* аугментац*
    """,
    "seed": "seed* worker_init_fn rng random_state 种子 シード 시드 semilla* startwert graine* сид",
    "shuffle": """
        shuffl* reshuffl* permut* 打乱 乱序 シャッフル 셔플 mezcla* mischen mischt melange* перемеш* embaralh*
    """,
    "order": "order* sequence ordering permutation 顺序 順序 順番 순서 orden reihenfolge ordre поряд* ordem",
    "same": """
        same identical duplicat* repeat* equal reduces_vari* not_different no_variety reduces lack_of fixed sameness
        correlated own_seed share_seed shared_seed same_seed different_seed* 相同 一样 重复 同じ 重複 같은 동일 중복
        mismo* misma* iguales gleich* identique* meme одинаков* mesm* iguais
    """,
    "twice": r"""
        duplicat* twice repeat* multiple_times /\d times(?! (?:slow|fast|more|long|the))/ several_times redundan*
        seen_once each_sample_once exactly_once same_data /once (?:per|for each|by each) (?:worker|process|rank|gpu)/
        one_copy per_worker same_samples all_workers_read same_item* 重复 两次 多次 二重 重複 중복 두번 dos_veces
        duplicad* doppelt mehrfach deux_fois дважды дублир* duas_vezes
    """,
    "differ": """
        differ* reproduc* nondetermin* non_determin* determin* irreproduc* affect* inconsistent vary varies varying
        not_the_same final_result* same_result* change_the_result* influence* repeatab* 复现 不同 不一致 影响 再現
        異なる 변동 재현 다른 reproducib* unterschied* reproduzier* difference* воспроизвод* diferente*
    """,
    "result": """
        result* output* outcome* metric* run runs experiment* 结果 結果 결과 resultado* ergebnis* resultat* результат*
    """,
    "resume": """
        resum* resumption restart* mid_epoch mid_training continue_training continue_from continuing_from
        fault_toleran* stateful* relaunch* preempt* restore* state_dict stopped_training crash_recovery save_state
        pick_up_where start_it_again interrupted 断点 恢复训练 继续训练 恢复 再開 재개 이어서 reanud* retomar
        fortsetz* wiederaufn* reprendre reprise возобнов* продолж*
    """,
    "state": """
        state position progress skip skips skipping fast_forward offset cursor mid_epoch where_it from_zero
        from_the_beginning from_scratch data_order batch_index save_state whole_dataset_again order sequence replay*
    """,
    "skip": """
        skip* ignor* drop_bad continue_past catch handl* exception_handler tolera* filter* 跳过 忽略 スキップ 건너
        salt* omitir uberspring* ignorer пропус* pular
    """,
    "bad": """
        bad corrupt* broken damaged invalid missing truncated unreadable cannot_read faulty 损坏 坏 破损 破損 壊れ
        손상 깨진 dañad* danad* beschadigt* defekt* corromp* поврежд* битые битых corrompid*
    """,
    "none": "none null nonetype 为空 空值",
    "collate": "collat* default_collate collate_fn 校对",
    "stack": """
        stack stacking default_collate variable_length variable_size* different_length* different_size*
        different_shape* varying_length* varying_size* unequal_size* ragged pad_sequence 不同长度 不同尺寸
    """,
    "pickle": "pickl* serializ* serialis* unpickl* 序列化 ピックル",
    "lambda": "lambda lamda lambdas lamdba",
    "nested": r"""
        /local (?:\w+ )?function/ nested_function local_object inner_function closure* named_function local_class
        nested_class module_level defined_inside
    """,
    "guard": "if_name_main /__main__/ main_guard name_main freeze_support bootstrapping main_block /__name__/",
    "reimport": r"""
        reimport* re_import* rerun* re_run* runs_again run_again executed_again imports_again /\d prints/
        executes_multiple re_execut* 重复执行
    """,
    "cuda_fork": "re_initialize_cuda reinitialize_cuda cuda_in_forked forked_subpro*",
    "cuda": "cuda gpu",
    "pin": "pin_memory pinned pin pinning page_locked 锁页 锁页内存 ピン",
    "nonblocking": "non_block* nonblock* async* overlap*",
    "move": r"""
        /\bto (?:the )?(?:gpu|cuda|device)/ into_gpu onto_gpu transfer* copy copies copying move* host_to_device h2d
        put_on_gpu load_to_gpu 拷贝 传输 転送
    """,
    "overlap": "overlap* async* concurrent* in_parallel",
    "value": "value* wrong garbage incorrect corrupt* conversion silent* race nan",
    "persistent": "persistent_workers persistent_worker persistent keep_workers alive keep_dataloader_workers",
    "prefetch": "prefetch* prefetch_factor prefetching 预取",
    "stale": "stale outdated old_data not_updated update* changes change not_reflect* ignored no_effect",
    "respawn": """
        restart* reset* recreat* re_creat* respawn* spawn_again creating_new new_ones reload* alive keep_alive
        start_up startup created_subprocess subprocess_more 重启 重新创建 再起動
    """,
    "last": "last drop_last remainder incomplete leftover final_batch drops_last tail 最后一个",
    "drop": """
        drop drops dropped drop_last missing lost left_out not_reported excluded misses lose skipped not_for_all
    """,
    "padding": "pad pads padding padded extra_samples padding_duplicates",
    "reproducible": """
        reproduc* nondetermin* non_determin* determin* irreproduc* repeatab* 复现 再現 재현 reproducib* reproduzier*
        воспроизвод*
    """,
    "whole_data": r"""
        /\b(?:full|whole|entire|complete) (?:\w+ )?(?:data ?set|data|epoch)\b/
        /\ball (?:of )?(?:the )?(?:data|samples)\b/
        完整数据 全部数据
    """,
    "uneven": """
        uneven* unequal* different_number* different_num* not_divisible unbalanced imbalanced one_rank some_ranks
        mismatch_number different_length less_batches fewer_batches join_context 数量不一致 数目不同
    """,
    "split": "split* random_split subset* splitting train_val_split train_test_split 划分",
    "transform": "transform* augment* preprocess* 变换 transformacion*",
    "scale": "scale* scaling same_iterations iterations_gpu iterations_per_gpu speedup_with_gpus 加速比",
    "opencv": "cv2 opencv cv open_cv setnumthreads set_num_threads",
    "threads": "thread* omp omp_num_threads mkl blas num_threads 线程 スレッド 스레드 hilos поток*",
    "busy": r"""
        /cpu.{0,20}\b100 ?%/ high_cpu cpu_usage all_cores all_cpus all_cpu all_the_cpu* every_core
        oversubscri* full_cpu cpu_util* cpu_high cpu占满
        cpu跑满
    """,
    "tokenizer": "tokenizer* tokenizers_parallelism",
    "leaked_semaphores": "leaked_semaphore* leaked_shared_memor* semaphore_leak*",
    "empty_cache": "empty_cache gc_collect garbage_collect* torch_cuda_empty_cache",
    "disk": """
        disk hdd ssd nfs i_o io page_cache cache cached cold warm s3 network_drive lustre 磁盘 ディスク 디스크
        festplatte*
    """,
    "set": """
        set setting choose choosing optimal best how_many number_of recommended ideal correctly configure
        setup modify tune
        add_option option suggest why_set 设置 设多少 多少 怎么设 怎么 設定 설정 몇 configurar elegir cuantos
        wie_viele einstellen combien choisir выбрать сколько quantos
    """,
    "too_many": "too_many excessive more_than max maximum limit",
    "exhausted": """
        exhaust* once_only only_once stopiteration iterated_once second_epoch after_first_epoch no_more empty_second
    """,
    "length": "/__len__/ len length* size",
    "index": "index indices index_out_of_range out_of_range indexerror out_of_bounds",
    "empty": "empty num_samples no_samples zero_samples 0_samples zero_length",
    "share": """
        share* sharing one_copy single_copy duplicate_memory only_once only_rank first_rank 共享 共有 compart*
    """,
    "fit": """
        does_not_fit doesnt_fit not_fit fit_in fit_into too_large too_big out_of_core instead_of_loading
        without_loading lazy* lazily from_disk on_the_fly large_dataset* huge_dataset* 太大 内存不够
    """,
    "reading": "read* open* load loads loaded loading 读取 读 読み込 읽",
    "next": ".next next_method iter_next",
    "timeout": "timeout* timed_out time_out",
    "get_worker_info": "get_worker_info worker_info",
    "graph": "requires_grad grad_fn autograd graph non_leaf",
    "allocate": "allocat* cannot_allocate start* fork*",
    "segfault": "segfault* segmentation_fault* core_dump* sigsegv 段错误 セグメンテーション",
    "subprocess_start": "daemonic start_a_process starts_processes nested_multiprocessing children pool",
    "exclusive": "mutually_exclusive exclude_each_other",
    "underused": "underutili* under_utili* starv* idle idling 遊んで 空闲 놀고 ocios* простаив*",
    "spawn": "spawn spawned spawning forkserver start_method",
    "inplace": "in_place inplace mutat*",
    "oom": "oom out_of_memory memory_error memoryerror ooms",
    "checkpoint": "checkpoint* ckpt 检查点",
    "to_gpu": r"/\b(?:in|on)?to (?:the )?(?:gpu|cuda|device)/ onto_gpu to_cuda .cuda",
    "cannot": "cannot cant unable impossible not_possible 不能 无法 できない",
    "wrong": "wrong incorrect garbage mixed_up mismatch* 错误的数据 错乱",
    "bottleneck": "bottleneck* 瓶颈 ボトルネック 병목 cuello_de_botella engpass goulot",
    "speed": """
        speedup speed_up speeding_up faster accelerat* 加速 提速 速度 高速 속도 velocidad geschwindigkeit vitesse
        скорость
    """,
    "fast": "faster fast quick quicker",
    "improve": "improv* increas* optimi* tune",
    "affect": "affect* influence* impact* change",
    "over_time": r"""
        over_time gradually as_training as_steps as_the_training progress* and_slower increasingly with_time
        eventually later /epoch \d+/ becomes gets get then_all 越来越
    """,
    "set_epoch": "set_epoch epoch_set sampler_epoch",
    # Other subjects: a question about one of these is answered only where a loader or its workers are named.
    "outside": """
        loss losses accuracy accurate accura* reward perplexity gradient* overfit* learning_rate lr nan converge* pip
        conda install* instal* installing version versions torchserve tensorflow keras jax tf tf.data tfrecorddataset
        queuedequeue* modulenotfound* importerror layers layer weights backbone mat1 shapes_cannot size_mismatch
        bert_inference checkpoint_key matplotlib visuali* tqdm plot mixed_precision download scheduler early_stopping
        early_stop* learning colab_gpu caffe prompt token_limit stable_diffusion paper sota
        pretrained_weights pretrained_model
        batch_norm batchnorm 损失 准确率 精度
        收敛 安装 权重 损失函数 精度低 損失 収束 インストール 精度が 손실 정확도 설치 precision instalar instalando
        exactitud genauigkeit installier* precision_du installation точност* устанавл* acuracia
    """,
    "model": r"""
        /\bfr(?:eez|oz)\w* (?:\w+ ){0,3}(?:layer|encod|decod|backbone|weight|param|embed|model|network|head)\w*/
        model models network net optimizer optimizers attention llama llm llms gpt lora fine_tune fine_tuning finetune
        finetuning transformer_layer quantiz* hyperparameter* 模型 モデル 모델 modelo modell modele модел*
    """,
    "tensorflow": "tensorflow keras jax tf tf.data queuedequeue* tfrecorddataset caffe",
}
